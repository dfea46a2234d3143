// Memory for a library that brings its own state (zlib), counted as all other (memory_room.h).
//
// The two have the form in which zlib wants them, so that it is a line for whoever begins a stream:
//
//     z_stream stream = {.zalloc = counted_block_new, .zfree = counted_block_free};
//
// A refusal is for the caller to count (refused_memory.h): some go on without.
#pragma once

// `count` things of `size` bytes each, aligned for anything. NULL: no room, or no memory. `of` is not looked at.
void *counted_block_new(void *of, unsigned count, unsigned size);
void counted_block_free(void *of, void *block);  // NULL is fine
