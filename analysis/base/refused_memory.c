#include "analysis/base/refused_memory.h"

#include "analysis/base/memory_room.h"

// The one variable of the core outside any struct: errno's twin, and for the same reason.
static _Thread_local uint64_t refusals;

void *memory_or_refusal(void *block) {
    if (!block) refusals++;
    return block;
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
    if (limit)
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
