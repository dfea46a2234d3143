// A view of the page that is put into a file, and what of it the file holds, by tool:
//
//     memory_viewer    session -> modules, each with every memory type: overview, columns, buffers, groups, advice
//     memory_profile   session -> overview -> memories, each with curve, events, breakdown, steps, operations, pressure
//     device_memory    session -> files, each with its tree
//     compare          two sessions, two modules: what changed by each way to group, both overviews, advice
//     out_of_memory    the log -> its explanation; the program that it is joined to, as the Memory Viewer's
//
// One session: the lists of sessions and modules are cut to what is held. What the page itself was answered besides
// (groups at a step, advice for a capacity) is handed in as `asked`: addresses like "memory_view/groups?by=source".
#pragma once

#include <stddef.h>

// Of a file that holds several modules or memories: beyond this they are left out, and the page says which. What was
// asked besides has as much again.
enum { SAVED_VIEW_BYTES = 24 << 20 };

struct saved_view {
    const char *address;  // "?run=...", the page's own
    const char *tool;     // "memory_viewer", ...
    const char *session;
    const char *module;  // NULL: all of the session, or every program of a name without "(id)"
    const char *host;    // NULL: any
    const char *memory_id;
    const char *file;
    const char *memory_space;                   // compare; NULL: HBM
    const char *session_b, *module_b, *host_b;  // compare: the program after
    const char *log;                            // out_of_memory: what was explained
    const char *capacity;                       // out_of_memory: bytes, as the page asks; NULL: the message's own
    const char *const *asked;
    size_t asked_count;
};
