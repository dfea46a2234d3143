// Peak and total of every memory space of every program of a session: worked out in the background, so that the list of
// modules answers at once.
//
//     /api/v1/modules ──> ask ──> set of the session (one row for each program): pending -> ready | error
//                                  ^ one worker thread: the set asked for last, one module at a time
//
// The worker loads past the cache (the module in view stays there) and keeps only the figures. It stops when nobody has
// asked for MODULE_SUMMARIES_PATIENCE_SECONDS. Sets are kept for the last few sessions. Thread-safe.
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

struct module_summaries;

// NULL: no memory, or no thread.
struct module_summaries *module_summaries_new(struct cache *cache);

// Ends the worker after the module it is at.
void module_summaries_free(struct module_summaries *summaries);

// What is known now: one summary for each row of `list`, on the work's arena. The worker goes on with this session.
MUST_USE bool module_summaries_ask(struct module_summaries *summaries, struct work *work,
                                   const struct module_list *list, const struct module_summary **rows,
                                   struct error *error);
