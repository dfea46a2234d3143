// The programs that a session compiled beside one that found no room (0101), what each keeps of HBM while it is loaded,
// and what letting go of the others, or making one program of all, would free.
//
//     jit_train   constants 1 MiB   temporaries 9 GiB   \  evicting:  from the others' constants to all that they keep
//     jit_eval    constants 1 MiB   temporaries 3 GiB   /  merging:   at most all temporaries but the largest
//
// Reasoned, and no run has judged it. The bytes are the programs' own (memory_totals.h): what a program brings along
// are constants and temporaries; arguments and outputs are arrays, and stay whoever is evicted. Programs and arrays
// share HBM, and programs are evicted for arrays; whether the runtime reserves the temporaries of each loaded program,
// or one place for those that run in turn, no source at hand says: hence the two ends. The program's code is in no
// HloProto and is not counted; nor does a profile tell which programs were loaded just then.
#pragma once

#include "analysis/memory/memory_totals.h"
#include "analysis/oom/oom_message.h"

enum { OOM_LOADED_NOTES_MAX = 4 };

struct oom_loaded_program {
    const char *module;  // "jit_train(1)"
    int64_t constant_bytes, temporary_bytes;
    int64_t size_bytes;  // both
    bool is_failing;     // the one that found no room
};

struct oom_loaded {
    const char *session;                  // NULL: nothing is known of a session
    const char *host;                     // whose programs these are; "" of a dump
    struct oom_loaded_program *programs;  // what keeps most first
    size_t count;
    size_t unread;                            // programs of the host that could not be read, or not in time
    int64_t evicting_low_bytes;               // what the others free for certain: their constants
    int64_t evicting_high_bytes;              // at most: with temporaries of their own
    int64_t merging_high_bytes;               // at most; at least nothing
    const char *notes[OOM_LOADED_NOTES_MAX];  // all this in words, with the message's figures
    size_t note_count;
};

// A row of the program's HBM; `totals` are those of memory space 0.
struct oom_loaded_program oom_loaded_program_of(const char *module, const struct memory_totals *totals,
                                                bool is_failing);

// Sorts the programs, sums them, and says it on `arena`. Sums that leave int64 stay at its end.
void oom_loaded_sum(const struct oom_message *message, struct arena *arena, struct oom_loaded *loaded);
