#include "analysis/memory/curve_samples.h"

enum { SAMPLES_PER_COLUMN = 2 };

struct extremes {
    uint32_t early, late;
};

static struct extremes extremes_of(const int64_t *values, uint32_t begin, uint32_t end) {
    uint32_t low = begin, high = begin;
    for (uint32_t i = begin + 1; i < end; i++) {
        if (values[i] < values[low]) low = i;
        if (values[i] > values[high]) high = i;
    }
    return low < high ? (struct extremes){low, high} : (struct extremes){high, low};
}

static void keep(const struct memory_view *view, uint32_t step, uint32_t unpadded_step, struct curve_samples *samples) {
    uint32_t i = samples->count++;
    samples->steps[i] = step;
    samples->heap_bytes[i] = view->replay.heap_bytes[step] + view->indefinite_bytes;
    samples->unpadded_bytes[i] = view->replay.unpadded_bytes[unpadded_step] + view->indefinite_unpadded_bytes;
}

static void keep_extremes(const struct memory_view *view, uint32_t begin, uint32_t end, struct curve_samples *samples) {
    struct extremes heap = extremes_of(view->replay.heap_bytes, begin, end);
    struct extremes unpadded = extremes_of(view->replay.unpadded_bytes, begin, end);
    keep(view, heap.early, unpadded.early, samples);
    keep(view, heap.late, unpadded.late, samples);
}

bool curve_samples_make(const struct memory_view *view, uint32_t columns, struct arena *arena,
                        struct curve_samples *samples) {
    *samples = (struct curve_samples){0};
    if (!view->has_simulation) return true;
    uint64_t steps = (uint64_t)view->replay.step_count + 1, most = (uint64_t)columns * SAMPLES_PER_COLUMN;
    bool is_whole = steps <= most;
    size_t room = (size_t)(is_whole ? steps : most);
    samples->steps = arena_new(arena, uint32_t, room);
    samples->heap_bytes = arena_new(arena, int64_t, room);
    samples->unpadded_bytes = arena_new(arena, int64_t, room);
    if (!samples->steps || !samples->heap_bytes || !samples->unpadded_bytes) return false;
    for (uint32_t i = 0; is_whole && i < steps; i++) keep(view, i, i, samples);
    for (uint32_t i = 0; !is_whole && i < columns; i++)
        keep_extremes(view, (uint32_t)(i * steps / columns), (uint32_t)((i + 1) * steps / columns), samples);
    return true;
}
