// Where the system had no memory to give. A NULL alone does not tell that from an arena at its limit: the limit says
// something about a file, for ever; the system's refusal says something about this moment, and nothing about a file.
//
//     before = memory_refusals()
//     make something:    malloc ──NULL──> memory_or_refusal counts ──> a list is shorter, "too big", ...
//     memory_was_refused(before, &error)?   then what was made is thrown away, whatever it says of itself
//
// So no place on the way has to know why it got NULL, and none can hide it. Those who ask are the frames of whatever
// outlives them: a load (server/store/cache), a scan (store), an answer (routes, api_routes), a command (main).
//
// The count is the thread's own, as errno is; who waits for work of another thread takes over what that was refused
// (memory_refusals_add). What goes well without the memory (a point to resume at, a smaller copy) does not count.
//
// File descriptors are counted with it: that the process, or the system, has none left says as little about a file.
#pragma once

#include <stdint.h>

#include "analysis/base/error.h"

// Returns `block`, the answer of an allocator, and counts a NULL.
void *memory_or_refusal(void *block);

// Counts that the system had no descriptor to give.
void memory_refused_descriptor(void);

// Counts what memory_was_refused told of another thread, if it is that.
void memory_refused_elsewhere(const struct error *error);

uint64_t memory_refusals(void);
void memory_refusals_add(uint64_t count);

// Whether the system refused this thread memory, or a descriptor, since it counted `before`: then *error is
// ERROR_NO_MEMORY.
bool memory_was_refused(uint64_t before, struct error *error);
