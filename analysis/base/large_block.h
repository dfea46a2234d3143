// Memory by the megabyte: the blob of a module, its columns, a large reply.
//
// Fresh memory costs a page fault for every 4 KiB, which is a third of the time of opening a large module for the first
// time. So large blocks are aligned for huge pages and the system is advised to use them; where it has none, nothing is
// lost. What is never touched costs nothing. Freed with free().
#pragma once

#include <stddef.h>

enum { LARGE_BLOCK_BYTES = 2 << 20 };  // from here on it pays

// A block of `size` bytes, not zeroed. NULL when there is no memory.
void *large_block_new(size_t size);
