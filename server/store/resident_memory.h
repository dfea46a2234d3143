// How much memory the process takes by the system's count: all of it, and what of it is its own (not the program's
// file, nor libraries', which the system drops when it needs room). 0 where the system does not tell.
//
//     resident_memory_open --> resident_count: /proc/self/statm, held open --> resident_memory_read, by any thread
//     the sandbox                                 no file of /proc/self is opened: its environ may have the token
//
// It counts the process that opened it, not a child of that.
#pragma once

#include <stddef.h>

struct resident_count {
    int file;  // -1: the system does not tell
};

struct resident_memory {
    size_t all_bytes, own_bytes;
};

// Before the sandbox.
struct resident_count resident_memory_open(void);
void resident_memory_close(const struct resident_count *count);
struct resident_memory resident_memory_read(const struct resident_count *count);  // NULL: nobody opened it
