// A report while it is made: what was asked for, the sessions of its PATH that are meant, where it is written to, and
// what is wrong.
//
//     catalog ──> sessions and those still being written, newest first ──> --session
//
// No file of a session is opened here. What is found lasts as long as the report.
#pragma once

#include "server/command/command.h"
#include "server/command/report_options.h"
#include "server/storage/opened_storage.h"
#include "server/store/file_store.h"
#include "server/text/page.h"

struct report {
    struct opened_storage opened;  // where the PATH lies
    struct storage storage;        // the same, as this report reads it
    struct report_options options;
    struct work work;  // names; its cache keeps what is in use, and little else
    struct report_sink sink;
    struct report_errors errors;
    struct catalog catalog;
    struct catalog_session *sessions;
    size_t session_count;
    struct open_file last_opened;  // of the program that was loaded last: the next one is often in the same file
    const char *last_path;
};

// False: there is no memory, and the command has complained.
MUST_USE bool report_begin(const struct report_options *options, struct report *report);

// Writes the rest of `what` ("report"), tells the errors, and frees everything. Returns how the command ends.
enum exit_code report_end(struct report *report, const char *what);

// A page in the format of the report, as wide as what it goes to.
struct page report_page_on(const struct report *report, struct output *output, struct arena *arena);

// False: the error is among the report's.
MUST_USE bool report_find_sessions(struct report *report);

// Says what the scan passed over; what it could not look into is among the report's errors.
void report_tell_left_out(struct report *report);

// The same, and says that nothing was found where nothing was: not where nobody could look.
void report_tell_missing(struct report *report);
