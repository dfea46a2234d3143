// What the report says of memory over time, one file at a time.
//
//     PATH ──> sessions ──> hosts (names) ──> loaded: one host's profile (its columns, its arena)
//                                         └─> memory: overview, then breakdown at the peak, growth, pressure
//
// A loaded profile is dropped whole before the next one is read, and a memory before the next one is looked at.
#pragma once

#include "analysis/base/text_writer.h"
#include "analysis/profile/questions/profile_findings.h"
#include "server/document/breakdown_json.h"
#include "server/document/profile_memory.h"
#include "server/command/report_across.h"

struct report_profile_session {
    const struct catalog_session *found;
    bool knows_programs;  // has_programs is found out when a host without events is
    bool has_programs;
    size_t first_host;
    struct report_across across;  // of the hosts that were told, in their order
};

struct report_profile_host {
    struct report_profile_session *session;
    const struct input_file *file;
};

struct report_profile {
    struct report *report;
    struct arena *arena;  // of names; as long as the report
    struct report_profile_session *sessions;
    size_t session_count;
    struct report_profile_host *hosts;  // those asked for, by session
    size_t host_count;
    size_t memories_asked;               // so far
    struct known_names not_asked;        // memory ids, so far
    uint32_t peaks_checked, peaks_over;  // --fail-over, so far
    struct text_writer over;             // lines for stderr
};

// Finds sessions and hosts. What is missing is among the report's errors.
void report_profile_open(struct report *report, struct report_profile *p);

// Tells on stderr which peaks are above --fail-over. False: there are some.
bool report_profile_tell_limit(const struct report_profile *p);

// A memory id that was asked for and is nowhere becomes an error. To be called after the last memory.
void report_profile_tell_missing(struct report_profile *p);

struct report_profile_loaded {
    const struct report_profile_host *host;
    struct work work;
    const struct memory_profile *profile;  // an empty one when it could not be read
    const char *state;                     // docs/api.md: "events", "no_events", "no_host_plane", "error"
    struct error fault;           // of the whole file, or of what stands behind the events; also among the report's
    const char *reason, *advice;  // "" with events
};

// Free it in any case.
void report_profile_load(struct report_profile *p, const struct report_profile_host *host,
                         struct report_profile_loaded *loaded);
void report_profile_unload(struct report_profile_loaded *loaded);

// Its memories among those of its session that are compared, once they were looked at.
void report_profile_take_peaks(const struct report_profile_loaded *loaded);

enum report_profile_limit { REPORT_PROFILE_NOT_CHECKED, REPORT_PROFILE_WITHIN, REPORT_PROFILE_OVER };

struct report_profile_memory {
    const struct report_profile_loaded *of;
    struct arena arena;
    struct profile_memory overview;
    enum report_profile_limit limit;
    bool knows_peak;  // an event told more than zeros
    struct memory_breakdown breakdown;
    struct step_growth growth;
    struct memory_pressure pressure;
    struct profile_findings findings;
    const char *growth_text, *pressure_text;
    uint32_t rows_shown, ops_shown;    // of breakdown and growth, as --top asks
    const struct breakdown_row *rows;  // those of the breakdown that are shown
};

// What the findings of a memory that was looked at are made of.
struct profile_evidence report_profile_evidence(const struct report_profile_memory *memory);

// The overview of timeline `i`, checked against --fail-over. False: it is not asked for, or the error is among the
// report's. Free it in either case.
MUST_USE bool report_profile_memory_make(struct report_profile *p, const struct report_profile_loaded *loaded, size_t i,
                                         struct report_profile_memory *memory);

// The rest. False: the error is among the report's.
MUST_USE bool report_profile_memory_look(struct report_profile *p, struct report_profile_memory *memory);
void report_profile_memory_free(struct report_profile_memory *memory);

// Why a session has no hosts; NULL when it has some, or when that could not be found out.
const char *report_profile_session_note(const struct report_profile_session *session);

// What the rows that are not shown hold together.
int64_t report_profile_rows_left_out_bytes(const struct report_profile_memory *memory);
