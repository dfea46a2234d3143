// Memory by the megabyte: the blob of a module, its columns, a large reply.
//
// Fresh memory costs a page fault for every 4 KiB, which is a third of the time of opening a large module for the first
// time. So large blocks are aligned for huge pages and the system is advised to use them; where it has none, nothing is
// lost. What is never touched costs nothing. All of it counts in memory_room.h, large or not.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { LARGE_BLOCK_BYTES = 2 << 20 };  // from here on it pays

// A block of `size` bytes, not zeroed. NULL when there is no memory.
void *large_block_new(size_t size);
void large_block_free(void *block, size_t size);  // NULL is fine

// How much a block of `size` bytes takes: all of that may be used.
size_t large_block_size(size_t size);

// The first `size` bytes of a block that `had` more, in a new one that takes less. NULL: none takes less, or there
// is no memory for it, and the block stays as it was.
void *large_block_shrink(void *block, size_t had, size_t size);

// A block that grows, for what is as long as the input turns out to be. It is made of pages of its own: they move
// without being copied, what was never touched takes no memory however much was reserved, and all goes back to the
// system at once. New bytes are zero. Start with {0}; large_block_release frees it.
struct growing_block {
    void *data;
    size_t capacity_bytes;
};

// Room for `size` bytes; at least doubles. False when there is no memory: the block stays as it is.
bool large_block_reserve(struct growing_block *block, size_t size);
void large_block_release(struct growing_block *block);

// Gives whole pages inside a block back to the system before the rest of it: what they held is lost.
void large_block_forget(void *from, size_t size);
