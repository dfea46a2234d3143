#include "analysis/base/memory_room.h"

#include <stdatomic.h>

static struct {
    atomic_size_t taken_bytes, left_bytes, limit_bytes;
    memory_room_make *_Atomic make_room;
    void *_Atomic context;
} room;

void memory_room_set(size_t limit_bytes, memory_room_make *make_room, void *context) {
    room.limit_bytes = limit_bytes;
    room.make_room = make_room;
    room.context = context;
}

void memory_room_leave(size_t bytes) {
    atomic_store(&room.left_bytes, bytes);
}

// What is counted may take so much.
static size_t most(void) {
    size_t left = atomic_load(&room.left_bytes);
    return left < room.limit_bytes ? room.limit_bytes - left : 0;
}

static bool is_beyond(size_t taken) {
    return room.limit_bytes && taken > most();
}

bool memory_room_take(size_t bytes) {
    while (is_beyond(atomic_fetch_add(&room.taken_bytes, bytes) + bytes)) {
        atomic_fetch_sub(&room.taken_bytes, bytes);
        if (bytes > most() || !room.make_room || !room.make_room(room.context, bytes)) return false;
    }
    return true;
}

void memory_room_give(size_t bytes) {
    atomic_fetch_sub(&room.taken_bytes, bytes);
}

size_t memory_room_taken(void) {
    return atomic_load(&room.taken_bytes);
}

size_t memory_room_limit(void) {
    return room.limit_bytes;
}

bool memory_room_is_tight(void) {
    return room.limit_bytes && memory_room_taken() / 3 > most() / 4;
}
