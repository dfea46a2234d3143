// Commands of XProf's own command line, so that scripts and skills that were written for it go on working: the same
// arguments, the same JSON. server/xprof answers what they ask, as over HTTP.
//
//     hbmview get_memory_profile PATH --> session (the newest) --> /data?tag=memory_profile --> the figures XProf makes
//
// What XProf says of the files it read comes first ("capture"), an error is its object of "status", "reason" and
// "error" on standard output; the exit code is ours. XProf's way with several hosts stays: a memory profile is of one.
#pragma once

#include <jansson.h>

#include "server/app.h"
#include "server/command/command.h"
#include "server/http/request.h"

struct xprof_command {
    const char *name;                      // "get_memory_profile"
    const char *path, *session_id, *host;  // as given; NULL
    struct options serving;
    struct app app;
    struct work work;
    const char *session;  // that is meant
    json_t *hosts;        // its hosts' names
    struct error error;
};

// Reads flags; `more` are the command's own. A switch of XProf's may have a value (--include_summary=False).
bool xprof_command_parse(struct xprof_command *command, int count, char *const arguments[], const struct flag *more,
                         size_t more_count, char problem[OPTIONS_PROBLEM_BYTES]);

// "True" and its like. False: `problem` is one sentence.
bool xprof_switch_read(const char *name, const char *text, bool *on, char problem[OPTIONS_PROBLEM_BYTES]);

// Opens the path and finds the session. False: the error is filled. End the command in either case.
bool xprof_command_begin(struct xprof_command *command);
void xprof_command_end(struct xprof_command *command);

// An answer of XProf's routes ("data?tag=..."), on the work; `status` 0 where it is none.
struct bytes xprof_command_ask(struct xprof_command *command, const char *resource,
                               const struct request_argument *query, bool *is_good);

// What stands first in an answer; for json_decref.
json_t *xprof_command_capture(const struct xprof_command *command);

// Writes a document as XProf does (NULL: the command's error), or a text; reals to so many digits.
enum exit_code xprof_command_write(struct xprof_command *command, const json_t *document, int digits);
enum exit_code xprof_command_write_text(const char *text);
