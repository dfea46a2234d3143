// Memory with one lifetime: allocate piece by piece, free all at once.
//
//     arena ->  [block 16 KiB: ####====.....]  ->  [block 1 MiB: ########======..]  ...
//                              ^ used                 bigger blocks as it grows; a large request gets its own
//
// hbmview has three lifetimes and no fourth: the process, a loaded file or module (one arena each, dropped whole by the
// cache), a request. An arena has a limit, so that hostile input ends in an error, not in swap; at the limit
// arena_push returns NULL and the caller reports ERROR_TOO_BIG. Memory is zeroed, but for arena_push_raw. Not
// thread-safe: one owner at a time; what is read-only after loading may be shared. Unused tails are poisoned under
// AddressSanitizer.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/bytes.h"

struct arena_block;

struct arena {
    struct arena_block *last;
    size_t used_bytes;   // taken from the system so far, what a cache charges for it
    size_t limit_bytes;  // 0 means none
    size_t next_block_bytes;
};

void arena_init(struct arena *arena, size_t limit_bytes);
void arena_free(struct arena *arena);

// Of an arena that is empty still: its first block takes so much, for what is small mostly.
void arena_begin_with(struct arena *arena, size_t block_bytes);

// Makes all of `other` part of `arena`: what two threads filled then has one lifetime. `other` is empty again.
void arena_adopt(struct arena *arena, struct arena *other);

// `count` zeroed objects of `size` bytes, aligned for any type; NULL when that overflows or passes the limit.
void *arena_push(struct arena *arena, size_t count, size_t size);

// The same without zeroing, for memory that is filled at once.
void *arena_push_raw(struct arena *arena, size_t count, size_t size);

#define arena_new(arena, type, count) ((type *)arena_push((arena), (count), sizeof(type)))

// A NUL-terminated copy; NULL at the limit.
char *arena_string(struct arena *arena, struct bytes text);

// A NUL-terminated string made by printf's rules; NULL at the limit.
__attribute__((format(printf, 2, 0))) char *arena_vprintf(struct arena *arena, const char *format, va_list arguments);
__attribute__((format(printf, 2, 3))) char *arena_printf(struct arena *arena, const char *format, ...);
