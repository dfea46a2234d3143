#include "analysis/profile/questions/timeline_window.h"

// An event at INT64_MAX has no picosecond past it: a window that ends there holds it.
static const int64_t END_OF_TIME = INT64_MAX;

void timeline_whole(const struct memory_timeline *timeline, int64_t *from_ps, int64_t *to_ps) {
    *from_ps = *to_ps = 0;
    if (!timeline->count) return;
    int64_t last = timeline->time_ps[timeline->count - 1];
    *from_ps = timeline->time_ps[0];
    *to_ps = last == END_OF_TIME ? last : last + 1;
    if (*from_ps == END_OF_TIME) *from_ps -= 1;
}

// The first row in [first, end) whose time is not before `time_ps`.
static uint32_t row_from(const struct memory_timeline *timeline, int64_t time_ps, uint32_t first, uint32_t end) {
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (timeline->time_ps[middle] < time_ps)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

void timeline_rows_between(const struct memory_timeline *timeline, int64_t from_ps, int64_t to_ps, uint32_t *first_row,
                           uint32_t *end_row) {
    *first_row = row_from(timeline, from_ps, 0, timeline->count);
    if (from_ps >= to_ps)
        *end_row = *first_row;
    else if (to_ps == END_OF_TIME)
        *end_row = timeline->count;
    else
        *end_row = row_from(timeline, to_ps, *first_row, timeline->count);
}

// --- Where buckets lie ---

struct bucket_grid {
    int64_t from_ps, to_ps;
    uint64_t width, rest;  // to - from = width x count + rest
    uint32_t count;
};

static struct bucket_grid grid_of(int64_t from_ps, int64_t to_ps, int64_t bucket_count) {
    if (bucket_count < 1) bucket_count = 1;
    if (bucket_count > TIMELINE_WINDOW_MAX_BUCKETS) bucket_count = TIMELINE_WINDOW_MAX_BUCKETS;
    uint64_t span = from_ps < to_ps ? (uint64_t)to_ps - (uint64_t)from_ps : 0, count = (uint64_t)bucket_count;
    return (struct bucket_grid){from_ps, to_ps, span / count, span % count, (uint32_t)count};
}

// The end of bucket i, the first picosecond at or past from + (i + 1) x (to - from) / count.
static int64_t bucket_end(const struct bucket_grid *grid, uint32_t i) {
    uint64_t buckets = (uint64_t)i + 1;
    uint64_t offset = grid->width * buckets + (grid->rest * buckets + grid->count - 1) / grid->count;
    return (int64_t)((uint64_t)grid->from_ps + offset);
}

// --- Entries ---

static void add_entry(const struct timeline_pyramid *pyramid, const struct memory_timeline *timeline, uint32_t bucket,
                      uint32_t first, uint32_t end, struct timeline_window *window) {
    window->entries[window->entry_count++] = (struct timeline_entry){
        bucket, first, end - first, timeline_pyramid_range(pyramid, timeline, first, end)};
}

static void fill(const struct timeline_pyramid *pyramid, const struct memory_timeline *timeline,
                 const struct bucket_grid *grid, struct timeline_window *window) {
    uint32_t row = window->first_row;
    for (uint32_t i = 0; i < grid->count && row < window->end_row; i++) {
        bool is_last = i + 1 == grid->count;
        uint32_t end = is_last ? window->end_row : row_from(timeline, bucket_end(grid, i), row, window->end_row);
        if (!window->is_exact && end > row) add_entry(pyramid, timeline, i, row, end, window);
        for (; window->is_exact && row < end; row++) add_entry(pyramid, timeline, i, row, row + 1, window);
        row = end;
    }
}

bool timeline_window_query(const struct timeline_pyramid *pyramid, const struct memory_timeline *timeline,
                           int64_t from_ps, int64_t to_ps, int64_t bucket_count, struct arena *arena,
                           struct timeline_window *window) {
    struct bucket_grid grid = grid_of(from_ps, to_ps, bucket_count);
    *window = (struct timeline_window){.before_row = MEMORY_EVENT_NONE};
    timeline_rows_between(timeline, from_ps, to_ps, &window->first_row, &window->end_row);
    uint32_t event_count = window->end_row - window->first_row;
    window->before_row = timeline_pyramid_range(pyramid, timeline, 0, window->first_row).last_row;
    window->is_exact = event_count <= grid.count;
    uint32_t most = event_count < grid.count ? event_count : grid.count;
    window->entries = arena_push_raw(arena, most, sizeof *window->entries);
    if (!window->entries && event_count) return false;
    fill(pyramid, timeline, &grid, window);
    return true;
}
