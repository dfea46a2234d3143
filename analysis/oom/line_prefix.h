// What loggers and launchers put before a line, so that a message of several lines reads as one again.
//
//     2026-01-02T03:04:05.678Z stderr F [rank3]: E0102 03:04:05.678901   42 hbm.cc:12]     program  12.0K
//     ^---------------------------------------------------------------------------------^ size; source: "[rank3]"
//
// Known: timestamps, glog and TensorFlow headers, log levels, "ERROR:root:", [rank3]: and
// [1,3]<stderr>:, srun's "3: ", "worker-0: ", pdsh's "tpu-vm-1: ", "pod-0 | ", Ray's (f pid=1, ip=...), quoting
// by "> "; behind a time the fields of Python's loggers ("- train - ERROR - ", "| ERROR | f:53 - ",
// "[train][ERROR] - ", "train.py:53] ") and syslog's "myhost train[123]: ". One blank after a prefix belongs to it, the
// indentation behind it is the line's own.
#pragma once

#include "proto/bytes.h"

struct line_prefix {
    size_t size;
    uint64_t source;  // which process wrote the line, as a hash of its label; 0: the line does not say
};

struct line_prefix line_prefix_read(struct bytes line);
uint64_t line_prefix_hash(struct bytes label);  // as a source; never 0

// The size of "myhost:", a name alone in small letters, at the start of a line; 0: there is none. Anything may begin
// so: it is a process where the lines beside it begin with a name, too.
size_t line_prefix_name(struct bytes line);
