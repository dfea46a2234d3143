// One line of `hbmview watch`: a program, a memory or a device memory profile that has come up.
//
//     2026-11-22 15:42:07  run4 / tpu-vm-0 / jit_train_step(1): peak 52.90 GiB of 15.75 GiB (336%), total 53.02 GiB;
//         train.py:53 33.09 GiB; ABOVE 16.00 GiB                                      (on one line)
//     {"time":"2026-11-22T15:42:07Z","kind":"program","session":"run4","host":"tpu-vm-0",...}
#pragma once

#include <stdbool.h>

#include "analysis/base/arena.h"
#include "server/text/output.h"

enum watch_kind { WATCH_PROGRAM, WATCH_MEMORY, WATCH_DEVICE_MEMORY };

struct watch_line {
    enum watch_kind kind;
    int64_t written_s;           // when its file was
    struct bytes session, host;  // no host: the file's name stands for it
    struct bytes file, name;     // of the program or memory; a device memory profile has none
    size_t host_count;           // that have it
    int64_t space;               // of a program
    int64_t peak_bytes;          // of a device memory profile what was in use
    bool has_total;
    int64_t total_bytes;
    int64_t capacity_bytes;  // 0: unknown
    struct bytes top;        // who holds the most of it; empty: unknown
    int64_t top_bytes;
    int64_t limit_bytes;  // of --fail-over, where the peak is above it; 0: it is not
};

void watch_line_write_text(const struct watch_line *line, struct output *output);
void watch_line_write_json(const struct watch_line *line, struct output *output);
