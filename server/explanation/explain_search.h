// Which program of a log directory a message is about.
//
//     "HLO module: jit_h", 18.00G    preferred session, then the others, newest first:  jit_h(1) 18.00 GiB   <- it
//                                                                                       jit_h(7)  2.10 GiB   near miss
//     no name, but an allocation     any program that has the instruction of that name, with its shape and bytes
//     neither, as of libtpu 0.0.42   any program of just the size that the message tells, as far as it is not rounded
//
// A name like jit_train_step stands in many sessions, so where the message says how much was needed, only a program of
// about that size counts (oom_match.h; of one that could not be loaded what loading reserves), whichever session is
// open; of several the nearest. A session that was asked for by name counts in any case: then whoever tells of it says
// that the sizes do not match. Totals are kept in the cache, what is loaded for them is let go at once, and after
// EXPLAIN_SEARCH_MS the search ends and says how far it came.
//
// What cannot be read is passed over, for a program is a help, its absence no error. But it is kept, with the reason,
// and its session is not among those that were looked through: nobody may claim more of the search than was seen.
#pragma once

#include "analysis/oom/oom_message.h"
#include "server/store/module_list.h"

enum { EXPLAIN_SEARCH_MS = 4000 };  // for all messages of a log

struct explain_session {
    struct explain_session *next;
    const char *asked, *name;
    struct module_list modules;  // none where it cannot be read
    bool is_whole;               // each of its files could be read
};

struct explain_sessions {  // read once for all messages of a log
    struct work *work;
    struct store *store;
    struct explain_session *read;
    struct input_remark *unreadable;  // files and folders, each once: what was looked for may be in them
    size_t unreadable_count;
    int64_t deadline_ms;  // 0: the search has not begun
};

struct explain_search_for {
    const char *session;    // this one only; NULL: any
    const char *preferred;  // looked at first; NULL: none
    const char *module;     // NULL: the message's own
};

struct explain_search {
    const char *session;  // of the program that was found
    const struct input_file *file;
    const struct xspace_program *program;  // NULL: none
    bool has_begun;                        // the message tells what to look for
    bool is_cut_short;                     // for want of time
    size_t sessions, session_count;        // looked through to the end, of how many
    size_t programs;                       // whose figures were compared
    const char *near_session;              // of the program of that name whose size is the least off; NULL: none
    const struct xspace_program *near_program;
    int64_t near_total_bytes;
    int64_t near_size_bytes;  // what of it the message was compared with: oom_size_of
};

// Is the time for the search over? It begins with the first question.
bool explain_is_late(struct explain_sessions *from);

// Keeps what could not be read: the error's file, or where it has none the `place`.
void explain_miss(struct explain_sessions *from, const struct error *error, const char *place);

// The session of that name, read once; NULL without memory. What of it cannot be read is kept as such.
const struct explain_session *explain_session_of(struct explain_sessions *from, const char *name);

// False: no program was found. All in `told` lives as long as the work.
bool explain_search(struct explain_sessions *from, const struct explain_search_for *asked,
                    const struct oom_message *message, struct explain_search *told);
