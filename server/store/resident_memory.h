// How much memory the process takes by the system's count: all of it, and what of it is its own (not the program's
// file, nor libraries', which the system drops when it needs room). 0 where the system does not tell.
#pragma once

#include <stddef.h>

struct resident_memory {
    size_t all_bytes, own_bytes;
};
struct resident_memory resident_memory_read(void);
