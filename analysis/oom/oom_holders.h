// Who holds what did not fit: the rows that a person would otherwise add up.
//
//     the program's groups at its peak (memory_groups.h)       33.09 GiB  train.py:53   34 buffers, 11 x 3.00 GiB
//     or, without a program, the message's own list             8.00 GiB  model.py:55    1 buffer
//
// Of the message's list only what it lists is known: what it leaves out is not counted. All on the caller's arena.
#pragma once

#include "analysis/hlo/hlo_module.h"
#include "analysis/oom/oom_message.h"

enum { OOM_HOLDERS_MAX = 10 };

struct oom_holder {
    const char *key;    // "train.py:53", "opt_state[0].nu"
    const char *about;  // what is computed there: "attention"; NULL
    int64_t size_bytes;
    double share;  // of what is live at the peak, or of what is listed
    int64_t buffers;
    int64_t alike;        // the buffers of one size that hold most of it
    int64_t alike_bytes;  // each
};

struct oom_holders {
    struct oom_holder *rows;  // the largest first
    size_t count;
    size_t left_out;
    int64_t left_out_bytes;
    bool is_listed;    // from the message's list
    bool is_by_names;  // lines say little of this program, so operations stand for them
};

// Of HBM at the peak.
MUST_USE bool oom_holders_read(const struct hlo_module *module, struct arena *arena, struct oom_holders *holders,
                               struct error *error);

// Of the message; none where it lists nothing, or at the arena's limit.
void oom_holders_listed(const struct oom_message *message, struct arena *arena, struct oom_holders *holders);
