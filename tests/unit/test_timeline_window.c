#include "analysis/profile/questions/timeline_window.h"

#include <string.h>

#include "analysis/profile/questions/largest_free.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/timeline_build.h"

struct fixture {
    struct timeline_build build;
    struct arena arena;
    struct timeline_pyramid pyramid;
    struct timeline_window window;
};

static void begin(struct fixture *f, uint32_t capacity) {
    timeline_build_init(&f->build, capacity);
    arena_init(&f->arena, 0);
}

static void built(struct fixture *f) {
    assert_true(timeline_pyramid_build(&f->build.timeline, &f->arena, &f->pyramid));
}

static void query(struct fixture *f, int64_t from_ps, int64_t to_ps, int64_t buckets) {
    assert_true(timeline_window_query(&f->pyramid, &f->build.timeline, from_ps, to_ps, buckets, &f->arena, &f->window));
}

static void done(struct fixture *f) {
    arena_free(&f->arena);
    timeline_build_free(&f->build);
}

// --- The naive count ---

static void naive_extent(struct timeline_extent *extent, bool is_first, int64_t value) {
    if (is_first || value < extent->min) extent->min = value;
    if (is_first || value > extent->max) extent->max = value;
}

static struct timeline_range naive_range(const struct memory_timeline *t, bool tells_free, uint32_t first,
                                         uint32_t end) {
    struct timeline_range range = {.fragmentation_min = NAN, .fragmentation_max = NAN, .largest_free_min = -1};
    range.peak_row = range.last_row = MEMORY_EVENT_NONE;
    for (uint32_t row = first; row < end; row++) {
        if (!(t->flags[row] & MEMORY_EVENT_HAS_STATE)) continue;
        bool is_first = range.last_row == MEMORY_EVENT_NONE;
        int64_t used = memory_timeline_used_bytes(t, row);
        int64_t largest = tells_free ? largest_free_bytes(t->free_bytes[row], t->fragmentation[row]) : -1;
        if (is_first || used > range.used.max) range.peak_row = row;
        naive_extent(&range.heap, is_first, t->heap_bytes[row]);
        naive_extent(&range.stack, is_first, t->stack_bytes[row]);
        naive_extent(&range.free, is_first, t->free_bytes[row]);
        naive_extent(&range.used, is_first, used);
        if (isfinite(t->fragmentation[row])) {
            range.fragmentation_min = fmin(range.fragmentation_min, t->fragmentation[row]);
            range.fragmentation_max = fmax(range.fragmentation_max, t->fragmentation[row]);
        }
        if (largest >= 0 && (range.largest_free_min < 0 || largest < range.largest_free_min))
            range.largest_free_min = largest;
        range.last_row = row;
    }
    return range;
}

static void assert_same_double(double a, double b) {
    if (isnan(b))
        assert_true(isnan(a));
    else
        assert_true(a == b);
}

static void assert_same_range(const struct timeline_range *a, const struct timeline_range *b) {
    assert_int_equal(a->peak_row, b->peak_row);
    assert_int_equal(a->last_row, b->last_row);
    assert_same_double(a->fragmentation_min, b->fragmentation_min);
    assert_same_double(a->fragmentation_max, b->fragmentation_max);
    assert_int_equal(a->largest_free_min, b->largest_free_min);
    if (b->last_row == MEMORY_EVENT_NONE) return;
    assert_memory_equal(&a->heap, &b->heap, sizeof a->heap);
    assert_memory_equal(&a->stack, &b->stack, sizeof a->stack);
    assert_memory_equal(&a->free, &b->free, sizeof a->free);
    assert_memory_equal(&a->used, &b->used, sizeof a->used);
}

// The bucket of a time by the definition: floor((time - from) x buckets / (to - from)).
static uint32_t naive_bucket(int64_t time_ps, int64_t from_ps, int64_t to_ps, int64_t buckets) {
    unsigned __int128 offset = (uint64_t)time_ps - (uint64_t)from_ps, span = (uint64_t)to_ps - (uint64_t)from_ps;
    uint64_t bucket = (uint64_t)(offset * (uint64_t)buckets / span);
    return bucket < (uint64_t)buckets ? (uint32_t)bucket : (uint32_t)buckets - 1;
}

static bool is_inside(int64_t time_ps, int64_t from_ps, int64_t to_ps) {
    return from_ps < to_ps && time_ps >= from_ps && (time_ps < to_ps || to_ps == INT64_MAX);
}

static void assert_window_is_naive(struct fixture *f, int64_t from_ps, int64_t to_ps, int64_t buckets) {
    const struct memory_timeline *t = &f->build.timeline;
    query(f, from_ps, to_ps, buckets);
    uint32_t inside = 0, before = MEMORY_EVENT_NONE, i = 0, row = 0;
    for (uint32_t r = 0; r < t->count; r++) inside += is_inside(t->time_ps[r], from_ps, to_ps);
    for (; row < t->count && t->time_ps[row] < from_ps; row++)
        if (t->flags[row] & MEMORY_EVENT_HAS_STATE) before = row;
    assert_int_equal(f->window.end_row - f->window.first_row, inside);
    assert_int_equal(f->window.is_exact, inside <= buckets);
    assert_int_equal(f->window.before_row, before);
    while (row < t->count && is_inside(t->time_ps[row], from_ps, to_ps)) {
        uint32_t first = row, bucket = naive_bucket(t->time_ps[row], from_ps, to_ps, buckets);
        for (row++; row < t->count && is_inside(t->time_ps[row], from_ps, to_ps); row++)
            if (f->window.is_exact || naive_bucket(t->time_ps[row], from_ps, to_ps, buckets) != bucket) break;
        struct timeline_range range = naive_range(t, f->pyramid.tells.free, first, row);
        assert_true(i < f->window.entry_count);
        assert_int_equal(f->window.entries[i].bucket, bucket);
        assert_int_equal(f->window.entries[i].first_row, first);
        assert_int_equal(f->window.entries[i].count, row - first);
        assert_same_range(&f->window.entries[i++].range, &range);
    }
    assert_int_equal(f->window.entry_count, i);
}

// --- Timelines ---

static int64_t small(uint64_t *random, uint64_t below) {
    return (int64_t)(timeline_build_random(random) % below);
}

// Like a real allocator: the heap goes up and down, free is the rest, exactly full now and then.
static void add_like_real(struct timeline_build *b, uint32_t count, uint64_t *random) {
    const int64_t capacity = 1000000;
    int64_t heap = 0, time_ps = small(random, 1000);
    for (uint32_t i = 0; i < count; i++) {
        bool is_free = heap > 0 && small(random, 2);
        int64_t moved = 1 + small(random, (uint64_t)(is_free ? heap : capacity - heap) + 1);
        if (moved > (is_free ? heap : capacity - heap)) moved = is_free ? heap : capacity - heap;
        heap += is_free ? -moved : moved;
        if (small(random, 3)) time_ps += small(random, 5000);
        double fragmentation = heap == capacity ? NAN : (double)small(random, 1000) / 1000;
        timeline_build_add(b, (struct timeline_build_event){.time_ps = time_ps,
                                                            .heap = heap,
                                                            .free = capacity - heap,
                                                            .allocated = moved,
                                                            .fragmentation = fragmentation,
                                                            .is_free = is_free});
    }
}

static int64_t hostile_number(uint64_t *random) {
    static const int64_t numbers[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    uint64_t pick = timeline_build_random(random) % 9;
    return pick < 7 ? numbers[pick] : (int64_t)timeline_build_random(random);
}

static double hostile_double(uint64_t *random) {
    static const double numbers[] = {NAN, INFINITY, -INFINITY, -0.0, 1e308, -5, 0.5, 1};
    return numbers[timeline_build_random(random) % 8];
}

static int compare_times(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void add_hostile(struct timeline_build *b, uint32_t count, uint64_t *random) {
    for (uint32_t i = 0; i < count; i++) {
        timeline_build_add(b, (struct timeline_build_event){.time_ps = hostile_number(random),
                                                            .heap = hostile_number(random),
                                                            .stack = hostile_number(random),
                                                            .free = hostile_number(random),
                                                            .allocated = hostile_number(random),
                                                            .fragmentation = hostile_double(random),
                                                            .is_free = small(random, 2),
                                                            .is_stateless = small(random, 4) == 0});
    }
    qsort(b->timeline.time_ps, count, sizeof(int64_t), compare_times);
}

// --- Properties ---

static void random_windows_are_what_a_naive_count_gives(void **state) {
    (void)state;
    static const uint32_t counts[] = {1, 2, 15, 16, 17, 255, 256, 257, 1000, 5000};
    uint64_t random = 88172645463325252u;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct fixture f;
        begin(&f, counts[i]);
        add_like_real(&f.build, counts[i], &random);
        built(&f);
        int64_t from_ps, to_ps;
        timeline_whole(&f.build.timeline, &from_ps, &to_ps);
        assert_window_is_naive(&f, from_ps, to_ps, 1 + small(&random, 300));
        for (int trial = 0; trial < 40; trial++) {
            int64_t from = from_ps - 10 + small(&random, (uint64_t)(to_ps - from_ps) + 20);
            int64_t to = from + small(&random, (uint64_t)(to_ps - from_ps) + 20);
            assert_window_is_naive(&f, from, to, 1 + small(&random, 500));
        }
        done(&f);
    }
}

static void hostile_timelines_are_what_a_naive_count_gives(void **state) {
    (void)state;
    uint64_t random = 2463534242u;
    for (int round = 0; round < 30; round++) {
        struct fixture f;
        uint32_t count = 1 + (uint32_t)small(&random, 700);
        begin(&f, count);
        add_hostile(&f.build, count, &random);
        built(&f);
        for (int trial = 0; trial < 40; trial++)
            assert_window_is_naive(&f, hostile_number(&random), hostile_number(&random), 1 + small(&random, 60));
        done(&f);
    }
}

static void all_zooms_agree(void **state) {
    (void)state;
    struct fixture f;
    uint64_t random = 5;
    int64_t from_ps, to_ps;
    begin(&f, 3000);
    add_like_real(&f.build, 3000, &random);
    built(&f);
    timeline_whole(&f.build.timeline, &from_ps, &to_ps);
    struct timeline_range all = naive_range(&f.build.timeline, true, 0, 3000);
    for (int64_t buckets = 1; buckets <= TIMELINE_WINDOW_MAX_BUCKETS; buckets = buckets * 3 + 1) {
        uint32_t events = 0;
        int64_t most = INT64_MIN;
        query(&f, from_ps, to_ps, buckets);
        for (uint32_t i = 0; i < f.window.entry_count; i++) {
            events += f.window.entries[i].count;
            if (f.window.entries[i].range.used.max > most) most = f.window.entries[i].range.used.max;
        }
        assert_int_equal(events, 3000);
        assert_int_equal(most, all.used.max);
    }
    done(&f);
}

// --- Cases ---

static void events_at_one_time_are_one_bucket_or_single_events(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, 100);
    for (int i = 0; i < 100; i++)
        timeline_build_add(&f.build, (struct timeline_build_event){.time_ps = 7, .heap = i, .free = 100 - i});
    built(&f);
    query(&f, 7, 8, 99);  // narrower than its buckets
    assert_int_equal(f.window.entry_count, 1);
    assert_int_equal(f.window.entries[0].bucket, 0);
    assert_int_equal(f.window.entries[0].count, 100);
    query(&f, 7, 8, 100);
    assert_true(f.window.is_exact);
    assert_int_equal(f.window.entry_count, 100);
    assert_int_equal(f.window.entries[41].range.heap.max, 41);
    query(&f, 8, 9, 10);
    assert_int_equal(f.window.entry_count, 0);
    assert_int_equal(f.window.before_row, 99);
    query(&f, 8, 7, 10);
    assert_int_equal(f.window.end_row, f.window.first_row);
    done(&f);
}

static void whole_holds_everything(void **state) {
    (void)state;
    static const int64_t times[][2] = {{INT64_MIN, INT64_MAX}, {INT64_MAX, INT64_MAX}, {INT64_MIN, INT64_MIN}, {3, 3}};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        struct fixture f;
        int64_t from_ps, to_ps;
        begin(&f, 2);
        timeline_build_add(&f.build, (struct timeline_build_event){.time_ps = times[i][0]});
        timeline_build_add(&f.build, (struct timeline_build_event){.time_ps = times[i][1]});
        built(&f);
        timeline_whole(&f.build.timeline, &from_ps, &to_ps);
        query(&f, from_ps, to_ps, 1);
        assert_int_equal(f.window.entry_count, 1);
        assert_int_equal(f.window.entries[0].count, 2);
        done(&f);
    }
}

static void nothing_is_an_empty_window(void **state) {
    (void)state;
    struct fixture f;
    int64_t from_ps, to_ps;
    begin(&f, 0);
    built(&f);
    timeline_whole(&f.build.timeline, &from_ps, &to_ps);
    query(&f, from_ps, to_ps, 1000);
    assert_int_equal(f.window.entry_count, 0);
    assert_int_equal(f.window.before_row, MEMORY_EVENT_NONE);
    done(&f);
}

static void the_first_of_equal_peaks_stands_for_them(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, 1000);
    for (int i = 0; i < 1000; i++)
        timeline_build_add(&f.build, (struct timeline_build_event){.time_ps = i, .heap = i % 250 == 77 ? 9 : 3});
    built(&f);
    assert_int_equal(timeline_pyramid_range(&f.pyramid, &f.build.timeline, 0, 1000).peak_row, 77);
    assert_int_equal(timeline_pyramid_range(&f.pyramid, &f.build.timeline, 78, 999).peak_row, 327);
    assert_int_equal(timeline_pyramid_range(&f.pyramid, &f.build.timeline, 828, 1000).peak_row, 828);
    done(&f);
}

static void the_largest_free_block_is_between_nothing_and_all(void **state) {
    (void)state;
    assert_int_equal(largest_free_bytes(1000, 0.25), 750);
    assert_int_equal(largest_free_bytes(3, 0.5), 2);
    assert_int_equal(largest_free_bytes(0, NAN), 0);
    assert_int_equal(largest_free_bytes(1, NAN), LARGEST_FREE_UNKNOWN);
    assert_int_equal(largest_free_bytes(-5, 0.5), 0);
    assert_int_equal(largest_free_bytes(10, 7), 0);
    assert_int_equal(largest_free_bytes(10, -7), 10);
    assert_int_equal(largest_free_bytes(10, INFINITY), LARGEST_FREE_UNKNOWN);
    assert_int_equal(largest_free_bytes(0, -INFINITY), 0);
    assert_int_equal(largest_free_bytes(INT64_MAX, 0), INT64_MAX);
    assert_int_equal(largest_free_bytes(INT64_MAX, 1e-300), INT64_MAX);
    assert_int_equal(largest_free_bytes(INT64_MIN, -1e308), 0);
}

static void an_allocator_of_zeros_tells_nothing(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, 3);
    for (int i = 0; i < 3; i++)
        timeline_build_add(&f.build, (struct timeline_build_event){.time_ps = i, .allocated = 8});
    built(&f);
    assert_false(f.pyramid.tells.usage || f.pyramid.tells.free);
    query(&f, 0, 3, 1);
    assert_int_equal(f.window.entries[0].range.largest_free_min, LARGEST_FREE_UNKNOWN);
    f.build.timeline.heap_bytes[2] = 8;
    assert_true(timeline_tells(&f.build.timeline).usage);
    assert_false(timeline_tells(&f.build.timeline).free);
    done(&f);
}

static void an_arena_at_its_limit_is_an_error(void **state) {
    (void)state;
    struct fixture f;
    struct arena tight;
    uint64_t random = 9;
    begin(&f, 5000);
    add_like_real(&f.build, 5000, &random);
    arena_init(&tight, 1000);
    assert_false(timeline_pyramid_build(&f.build.timeline, &tight, &f.pyramid));
    built(&f);
    assert_false(timeline_window_query(&f.pyramid, &f.build.timeline, 0, INT64_MAX, 1000, &tight, &f.window));
    arena_free(&tight);
    done(&f);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_windows_are_what_a_naive_count_gives),
        cmocka_unit_test(hostile_timelines_are_what_a_naive_count_gives),
        cmocka_unit_test(all_zooms_agree),
        cmocka_unit_test(events_at_one_time_are_one_bucket_or_single_events),
        cmocka_unit_test(whole_holds_everything),
        cmocka_unit_test(nothing_is_an_empty_window),
        cmocka_unit_test(the_first_of_equal_peaks_stands_for_them),
        cmocka_unit_test(the_largest_free_block_is_between_nothing_and_all),
        cmocka_unit_test(an_allocator_of_zeros_tells_nothing),
        cmocka_unit_test(an_arena_at_its_limit_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
