#include "analysis/base/refused_memory.h"

#include <string.h>

#include "analysis/base/memory_room.h"

// The one variable of the core outside any struct: errno's twin, and for the same reason. Refusals of memory are
// counted in the lower half of it, those of descriptors in the upper.
static _Thread_local uint64_t refusals;
static const uint64_t DESCRIPTOR = UINT64_C(1) << 32;
static const char NO_DESCRIPTOR[] =
    "There was no file descriptor left for this. It says nothing about the file: try again, "
    "or let hbmview have more of them (ulimit -n).";

void *memory_or_refusal(void *block) {
    if (!block) refusals++;
    return block;
}

void memory_refused_descriptor(void) {
    refusals += DESCRIPTOR;
}

void memory_refused_elsewhere(const struct error *error) {
    if (error->code != ERROR_NO_MEMORY) return;
    if (strcmp(error->message, NO_DESCRIPTOR) == 0)
        memory_refused_descriptor();
    else
        (void)memory_or_refusal(NULL);
}

uint64_t memory_refusals(void) {
    return refusals;
}

void memory_refusals_add(uint64_t count) {
    refusals += count;
}

bool memory_was_refused(uint64_t before, struct error *error) {
    if (refusals == before) return false;
    size_t limit = memory_room_limit();
    bool was_descriptor = (refusals - before) % DESCRIPTOR == 0;
    if (was_descriptor)
        error_set(error, ERROR_NO_MEMORY, "%s", NO_DESCRIPTOR);
    else if (limit)
        error_set(error, ERROR_NO_MEMORY,
                  "There was no memory left for this within the %zu MiB of --memory_limit. It says nothing about the "
                  "file: try again, or start hbmview with a higher --memory_limit.",
                  limit >> 20);
    else
        error_set(error, ERROR_NO_MEMORY,
                  "The system had no memory left for this. It says nothing about the file: try again, "
                  "or give hbmview more memory.");
    return true;
}
