// The same program, or memory, in every session of a log directory, in order of time.
//
//     catalog ──> points in order of time ──> read, newest first, several at once ──> figures
//
//     2026_10_31   pending    (the patience ended)
//     2026_11_01   ready     10.81 GiB  jit_train_step(1)
//     2026_11_02   absent    "holds no module jit_train_step; its 2 modules: ..."
//     2026_11_03   error     "v.xplane.pb: the file ends inside a message"
//
// A program is the same when its module is called the same, whatever number its process gave it; where a session has
// several of that name, or several hosts, the one that takes most stands for them, and `of` says how many there are. A
// memory is the same by its id. Of device memory profiles each file is a point.
//
// A file that is broken is its session's reason, and no other's. Where a session has several programs or hosts of that
// name and the system refused to show one of them just now, the highest is not known: that is its reason.
#pragma once

#include "server/store/store.h"
#include "server/trend/trend_point.h"

struct trend_name {  // of something that a trend may be asked about
    struct bytes name;
    uint32_t sessions;
};

struct trend {
    struct trend_question question;
    struct bytes subject;  // "jit_train_step"; empty where there is nothing to follow
    struct trend_point *points;
    const struct trend_figures **figures;  // of each point, as memory_trend.h takes them
    uint32_t count, pending_count, ready_count;
    uint32_t left_out;              // older sessions, past the question's `last`
    struct input_remark *unlisted;  // what of the log directory could not be looked into: sessions may be missing
    uint32_t unlisted_count;
    struct trend_name *names;  // in the sessions that were read; those of most sessions first
    uint32_t name_count;
    bool has_more_names;
    struct work *work;  // what the points borrow from
};

// Lists the log directory anew and reads, several sessions at once. Valid as long as the work. False: there is no log
// directory to list.
MUST_USE bool trend_read(struct store *store, struct work *work, const struct trend_question *question,
                         struct trend *trend, struct error *error);
