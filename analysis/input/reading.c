#include "analysis/input/reading.h"

#include <string.h>

void reading_init(struct reading *reading) {
    static const struct reading nothing = {.path_lock = ATOMIC_FLAG_INIT};
    memcpy(reading, &nothing, sizeof nothing);
}

static void lock_path(struct reading *reading) {
    while (atomic_flag_test_and_set_explicit(&reading->path_lock, memory_order_acquire)) continue;
}

static void unlock_path(struct reading *reading) {
    atomic_flag_clear_explicit(&reading->path_lock, memory_order_release);
}

void reading_begin(struct reading *reading, const char *path) {
    if (!reading) return;
    size_t size = strlen(path) < sizeof reading->path ? strlen(path) : sizeof reading->path - 1;
    lock_path(reading);
    memcpy(reading->path, path, size);
    reading->path[size] = '\0';
    unlock_path(reading);
    atomic_store(&reading->read_bytes, 0);
    atomic_store(&reading->wanted_bytes, 0);
    atomic_store(&reading->listed_names, 0);
    atomic_fetch_add(&reading->file_count, 1);
}

void reading_wants(struct reading *reading, uint64_t bytes) {
    if (!reading) return;
    uint64_t read = atomic_load(&reading->read_bytes), known = atomic_load(&reading->wanted_bytes), wanted;
    do {
        wanted = (known > read ? known : read) + bytes;
    } while (!atomic_compare_exchange_weak(&reading->wanted_bytes, &known, wanted));
}

void reading_adds(struct reading *reading, uint64_t bytes) {
    if (!reading) return;
    atomic_fetch_add_explicit(&reading->read_bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&reading->all_bytes, bytes, memory_order_relaxed);
}

void reading_lists(struct reading *reading, uint64_t names) {
    if (reading) atomic_store_explicit(&reading->listed_names, names, memory_order_relaxed);
}

void reading_show(struct reading *reading, const struct reading_state *seen) {
    lock_path(reading);
    memcpy(reading->path, seen->path, sizeof reading->path);
    unlock_path(reading);
    atomic_store(&reading->read_bytes, seen->read_bytes);
    atomic_store(&reading->wanted_bytes, seen->wanted_bytes);
    atomic_store(&reading->listed_names, seen->listed_names);
}

bool reading_is_stopped(const struct reading *reading) {
    return reading && atomic_load_explicit(&reading->is_stopped, memory_order_relaxed);
}

bool reading_goes_on(const struct reading *reading, const char *path, struct error *error) {
    if (!reading_is_stopped(reading)) return true;
    return error_in(error, ERROR_STOPPED, path, ERROR_WHOLE_FILE, "Reading was stopped: nobody waits for it any more.");
}

struct reading_state reading_look(struct reading *reading) {
    struct reading_state state;
    lock_path(reading);
    memcpy(state.path, reading->path, sizeof state.path);
    unlock_path(reading);
    state.read_bytes = atomic_load(&reading->read_bytes);
    state.wanted_bytes = atomic_load(&reading->wanted_bytes);
    state.listed_names = atomic_load(&reading->listed_names);
    state.file_count = atomic_load(&reading->file_count);
    state.all_bytes = atomic_load(&reading->all_bytes);
    return state;
}

void reading_stop(struct reading *reading) {
    atomic_store(&reading->is_stopped, true);
}

void reading_abandon(struct reading *reading) {
    atomic_store(&reading->is_abandoned, true);
}

bool reading_is_abandoned(const struct reading *reading) {
    return reading && atomic_load(&reading->is_abandoned);
}
