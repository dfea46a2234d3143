// The programs of a session with the peak and total of every memory space: the figures are worked out in the
// background, so that the list of modules answers at once.
//
//     /api/v1/modules ─> ask ─> set: the session's modules, a row of figures for each: pending -> ready | error
//                               ^ one worker thread: the set asked for last, one module at a time
//     &since=<version> ──> the rows that are no longer pending since then; nothing is listed anew
//
//     "summary <offset> <version> <path>" ─> figures of one program (file_store.h): a session that got one file
//                                            more is a new set, whose old programs need not be loaded again
//
// A set is of one version of all files; the last few are kept, with what their lists are made of. One with a row that
// the system just would not read is kept until it was told whole. The worker loads past the cache (the module in view
// stays there) and stops when nobody has asked for MODULE_SUMMARIES_PATIENCE_SECONDS. Thread-safe.
#pragma once

#include "analysis/memory/memory_summary.h"
#include "server/store/module_list.h"

enum { MODULE_SUMMARIES_PATIENCE_SECONDS = 30, MODULE_SUMMARIES_SETS_MAX = 8 };

enum module_summary_state { MODULE_SUMMARY_PENDING, MODULE_SUMMARY_READY, MODULE_SUMMARY_ERROR };

struct module_summary {
    enum module_summary_state state;
    const struct memory_summary *spaces;
    size_t space_count;
    const struct error *error;
};

// What is known at one time; valid until the work ends.
struct module_figures {
    const char *session;
    struct module_list list;
    const struct module_summary *rows;  // one for each row of `list`
    const char *version;                // what `since` takes
    bool is_complete;                   // no row of the set is pending
};

struct module_summaries;

// NULL: no memory, or no thread.
struct module_summaries *module_summaries_new(struct cache *cache, struct store *store);

// Ends the worker after the module it is at.
void module_summaries_free(struct module_summaries *summaries);

// All programs of the session, listed now. The worker goes on with this session.
MUST_USE bool module_summaries_ask(struct module_summaries *summaries, struct work *work,
                                   const struct session_place *place, struct module_figures *figures,
                                   struct error *error);

// Only the rows that were settled after `since`, the version of an earlier answer. False when that is of another set
// than the session's files are now: ask for all.
bool module_summaries_changed(struct module_summaries *summaries, struct work *work, const struct session_place *place,
                              const char *since, struct module_figures *figures);
