#include "analysis/input/reading.h"

#include <string.h>

#include "analysis/base/steady_clock.h"

void reading_init(struct reading *reading) {
    static const struct reading nothing = {.lock = SHORT_LOCK_FREE};
    memcpy(reading, &nothing, sizeof nothing);
}

void reading_begin(struct reading *reading, const char *path) {
    if (!reading) return;
    size_t size = strlen(path) < sizeof reading->path ? strlen(path) : sizeof reading->path - 1;
    short_lock_take(&reading->lock);
    memcpy(reading->path, path, size);
    reading->path[size] = '\0';
    short_lock_give(&reading->lock);
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

// A wait is its end minus its beginning; the sum does not care whose.
static void count_wait(struct reading *reading, int64_t change) {
    if (!reading) return;
    short_lock_take(&reading->lock);
    reading->waited_ns -= change * steady_ns();
    reading->waiting += change;
    short_lock_give(&reading->lock);
}

void reading_awaits(struct reading *reading) {
    count_wait(reading, 1);
}

void reading_has_come(struct reading *reading) {
    count_wait(reading, -1);
}

int64_t reading_waited_ns(struct reading *reading) {
    if (!reading) return 0;
    short_lock_take(&reading->lock);
    int64_t waited = reading->waited_ns + reading->waiting * steady_ns();
    short_lock_give(&reading->lock);
    return waited;
}

const void *reading_asker(const struct reading *reading) {
    return reading ? reading->asker : NULL;
}

void reading_lists(struct reading *reading, uint64_t names) {
    if (reading) atomic_store_explicit(&reading->listed_names, names, memory_order_relaxed);
}

void reading_show(struct reading *reading, const struct reading_state *seen) {
    short_lock_take(&reading->lock);
    memcpy(reading->path, seen->path, sizeof reading->path);
    short_lock_give(&reading->lock);
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
    short_lock_take(&reading->lock);
    memcpy(state.path, reading->path, sizeof state.path);
    short_lock_give(&reading->lock);
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
