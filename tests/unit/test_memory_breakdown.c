#include "analysis/profile/questions/memory_breakdown.h"

#include "analysis/profile/questions/op_totals.h"
#include "analysis/profile/questions/size_histogram.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/memory_story.h"

static struct memory_breakdown breakdown_at(struct story *s, uint32_t row) {
    struct memory_breakdown b;
    assert_true(memory_breakdown_make(&s->build.profile, &s->build.timeline, row, &s->arena, &b, &s->error));
    return b;
}

static struct op_totals totals_of(struct story *s) {
    struct op_totals totals;
    assert_true(op_totals_make(&s->build.profile, &s->build.timeline, &s->arena, &totals, &s->error));
    return totals;
}

static const char *op_of(const struct story *s, uint32_t site) {
    return (const char *)s->build.profile.sites.sites[site].op.data;
}

static void what_is_alive_is_merged_by_site(void **state) {
    (void)state;
    struct story s;
    story_begin(&s, 16);
    s.heap_bytes = 5;
    uint32_t first = story_alloc(&s, "a", 10);
    s.step = 1;
    story_alloc(&s, "b", 25);
    story_alloc(&s, "a", 10);
    s.step = 2;
    story_alloc(&s, "a", 10);
    story_free(&s, first);
    struct memory_breakdown b = breakdown_at(&s, 3);
    assert_true(b.is_peak);
    assert_int_equal(b.row_count, 2);
    assert_string_equal(op_of(&s, b.rows[0].site), "a");
    assert_int_equal(b.rows[0].occurrences, 3);
    assert_int_equal(b.rows[0].total_bytes, 30);
    assert_int_equal(b.rows[0].first_row, 0);
    assert_int_equal(b.rows[0].first_step, 0);
    assert_int_equal(b.rows[0].last_step, 2);
    assert_int_equal(b.rows[1].total_bytes, 25);
    assert_int_equal(b.explained_bytes, 55);
    assert_int_equal(b.unexplained_bytes, 5);
    assert_int_equal(b.step_row_count, 1);  // XProf would count the one "a" of step 2
    assert_int_equal(b.step_bytes, 10);
    b = breakdown_at(&s, 4);
    assert_false(b.is_peak);
    assert_int_equal(b.rows[0].total_bytes, 25);
    assert_int_equal(b.rows[1].occurrences, 2);
    assert_int_equal(b.rows[1].first_row, 2);
    story_done(&s);
}

static void a_time_means_the_last_event_before_it(void **state) {
    (void)state;
    struct story s;
    story_begin(&s, 8);
    for (int i = 0; i < 3; i++) story_alloc(&s, "a", 1);  // at 0, 10, 20
    const struct memory_timeline *t = &s.build.timeline;
    assert_int_equal(memory_breakdown_row_at(t, -1), 0);
    assert_int_equal(memory_breakdown_row_at(t, 0), 0);
    assert_int_equal(memory_breakdown_row_at(t, 9), 0);
    assert_int_equal(memory_breakdown_row_at(t, 10), 1);
    assert_int_equal(memory_breakdown_row_at(t, 19), 1);
    assert_int_equal(memory_breakdown_row_at(t, 1000), 2);
    assert_int_equal(memory_breakdown_row_at(t, INT64_MAX), 2);
    assert_int_equal(memory_breakdown_row_at(t, INT64_MIN), 0);
    story_done(&s);
}

static void the_peak_is_the_first_of_equal_ones(void **state) {
    (void)state;
    struct story s;
    story_begin(&s, 8);
    uint32_t first = story_alloc(&s, "a", 7);
    story_free(&s, first);
    story_alloc(&s, "b", 7);
    assert_int_equal(memory_breakdown_peak_row(&s.build.profile, &s.build.timeline), 0);
    s.build.timeline.stack_bytes[1] = 8;
    assert_int_equal(memory_breakdown_peak_row(&s.build.profile, &s.build.timeline), 1);
    s.build.timeline.flags[1] &= (uint8_t)~MEMORY_EVENT_HAS_STATE;
    assert_int_equal(memory_breakdown_peak_row(&s.build.profile, &s.build.timeline), 0);
    s.build.timeline.count = 0;
    assert_int_equal(memory_breakdown_peak_row(&s.build.profile, &s.build.timeline), MEMORY_EVENT_NONE);
    story_done(&s);
}

// TensorFlow's plain CPU allocator: then what was seen is the heap.
static void an_allocator_that_tells_only_zeros(void **state) {
    (void)state;
    struct story s;
    story_begin(&s, 8);
    uint32_t first = story_alloc(&s, "a", 7);
    story_alloc(&s, "b", 6);
    story_free(&s, first);
    story_alloc(&s, "b", 6);
    for (uint32_t i = 0; i < s.build.timeline.count; i++) {
        s.build.timeline.heap_bytes[i] = s.build.timeline.free_bytes[i] = 0;
    }
    assert_int_equal(memory_breakdown_peak_row(&s.build.profile, &s.build.timeline), 1);
    struct memory_breakdown b = breakdown_at(&s, 1);
    assert_true(b.is_peak);
    assert_false(b.heap_is_told);
    assert_int_equal(b.heap_bytes, 13);
    assert_int_equal(b.unexplained_bytes, 0);
    story_done(&s);
}

// --- Random stories ---

enum { RANDOM_EVENTS = 400 };

static const int64_t sizes[] = {0, 1, 256, 4096, INT64_MAX, INT64_MIN, -1};

static void tell_random_story(struct story *s, uint64_t seed, bool is_hostile) {
    static const char *const ops[] = {"", "MatMul", "Relu", "Add"};
    uint64_t random = seed;
    uint32_t alive[RANDOM_EVENTS], alive_count = 0;
    s->heap_bytes = (int64_t)(timeline_build_random(&random) % 1000);
    for (int i = 0; i < RANDOM_EVENTS; i++) {
        uint64_t pick = timeline_build_random(&random) >> 8;
        s->step = (int64_t)(pick % 7) - (is_hostile ? INT64_MAX : 0);
        if (is_hostile && pick % 31 == 0) s->heap_bytes = (int64_t)pick;  // the profile missed something
        if (alive_count && pick % 5 < 2) {
            uint32_t which = (uint32_t)(pick / 5 % alive_count);
            story_free(s, alive[which]);
            alive[which] = alive[--alive_count];
        } else {
            alive[alive_count++] = story_alloc(s, ops[pick / 7 % 4], sizes[pick / 29 % (is_hostile ? 7 : 4)]);
        }
    }
}

// Counted the slow way.
static int64_t alive_bytes(const struct story *s, uint32_t row, uint32_t *count) {
    uint64_t sum = 0;
    *count = 0;
    for (uint32_t i = 0; i <= row; i++) {
        const struct memory_timeline *t = &s->build.timeline;
        bool is_freed = false;
        for (uint32_t j = i; j <= row; j++) is_freed |= memory_timeline_is_free(t, j) && t->partner[j] == i;
        if (memory_timeline_is_free(t, i) || is_freed) continue;
        sum += (uint64_t)s->build.profile.sites.sites[t->site[i]].allocated_bytes;
        ++*count;
    }
    return (int64_t)sum;
}

static void check_breakdown(struct story *s, uint32_t row) {
    struct memory_breakdown b = breakdown_at(s, row);
    uint64_t sum = 0;
    uint32_t occurrences = 0, alive;
    for (uint32_t i = 0; i < b.row_count; i++) {
        sum += (uint64_t)b.rows[i].total_bytes;
        occurrences += b.rows[i].occurrences;
        if (i) assert_true(b.rows[i - 1].total_bytes >= b.rows[i].total_bytes);
    }
    assert_int_equal(sum, b.explained_bytes);
    assert_int_equal(sum + (uint64_t)b.unexplained_bytes, s->build.timeline.heap_bytes[row]);
    assert_int_equal(b.explained_bytes, alive_bytes(s, row, &alive));
    assert_int_equal(occurrences, alive);
}

static void rows_and_the_unexplained_are_the_heap_at_every_event(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct story s;
        story_begin(&s, RANDOM_EVENTS);
        tell_random_story(&s, seed * 0x9e3779b97f4a7c15u, seed % 2);
        for (uint32_t row = 0; row < s.build.timeline.count; row += 7) check_breakdown(&s, row);
        check_breakdown(&s, s.build.timeline.count - 1);
        story_done(&s);
    }
}

// --- Totals per op ---

static void totals_count_what_each_op_did(void **state) {
    (void)state;
    struct story s;
    story_begin(&s, 16);
    uint32_t a = story_alloc(&s, "a", 100), b = story_alloc(&s, "b", 30), c = story_alloc(&s, "a", 50);
    story_alloc(&s, "a", 50);
    story_free(&s, a);  // lived 40
    story_free(&s, b);  // lived 40
    story_free(&s, c);  // lived 40
    uint32_t d = story_alloc(&s, "a", 100);
    story_free(&s, d);  // lived 10
    timeline_build_add(&s.build, (struct timeline_build_event){.time_ps = 1000, .is_free = true, .allocated = 9});
    struct op_totals totals = totals_of(&s);
    assert_int_equal(totals.op_count, 2);
    assert_int_equal(totals.allocations, 5);
    assert_int_equal(totals.frees, 5);
    assert_int_equal(totals.frees_of_unseen, 1);
    assert_int_equal(totals.allocated_bytes, 330);
    const struct op_total *most = &totals.ops[0];
    assert_memory_equal(most->op.data, "a", 1);
    assert_int_equal(most->allocations, 4);
    assert_int_equal(most->frees, 3);
    assert_int_equal(most->allocated_bytes, 300);
    assert_int_equal(most->held_bytes, 50);
    assert_int_equal(most->largest_bytes, 100);
    assert_int_equal(most->median_lifetime_ps, 40);
    assert_int_equal(totals.ops[1].allocated_bytes, 30);
    story_done(&s);
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void the_median_is_that_of_the_sorted_lifetimes(void **state) {
    (void)state;
    static const int64_t factors[] = {1, 3, 1000, 70000, 1LL << 40};
    uint64_t random = 12345;
    for (uint32_t count = 1; count < 60; count++) {
        struct story s;
        int64_t lifetimes[60];
        story_begin(&s, 2 * count);
        for (uint32_t i = 0; i < count; i++) story_alloc(&s, "a", 1);
        for (uint32_t i = 0; i < count; i++) {
            s.time_ps += (int64_t)(timeline_build_random(&random) % 5) * factors[count % 5];
            lifetimes[i] = s.build.timeline.time_ps[story_free(&s, i)] - s.build.timeline.time_ps[i];
        }
        qsort(lifetimes, count, sizeof *lifetimes, by_value);
        assert_int_equal(totals_of(&s).ops[0].median_lifetime_ps, lifetimes[(count - 1) / 2]);
        story_done(&s);
    }
}

static void totals_agree_with_histograms_and_the_last_breakdown(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct story s;
        struct allocation_histograms h;
        uint64_t by_size = 0, by_lifetime = 0, held = 0;
        story_begin(&s, RANDOM_EVENTS);
        tell_random_story(&s, seed * 0x9e3779b97f4a7c15u, seed % 2);
        struct op_totals totals = totals_of(&s);
        allocation_histograms_make(&s.build.profile, &s.build.timeline, &h);
        for (uint32_t i = 0; i < h.size_count; i++) by_size += h.sizes[i].count;
        for (uint32_t i = 0; i < h.lifetime_count; i++) by_lifetime += h.lifetimes[i].count;
        for (uint32_t i = 0; i < totals.op_count; i++) held += (uint64_t)totals.ops[i].held_bytes;
        assert_int_equal(by_size, totals.allocations);
        assert_int_equal(by_lifetime + h.never_freed_count, totals.allocations);
        assert_int_equal(held, h.never_freed_bytes);
        assert_int_equal(held, breakdown_at(&s, s.build.timeline.count - 1).explained_bytes);
        story_done(&s);
    }
}

static void sizes_stand_in_the_range_that_holds_them(void **state) {
    (void)state;
    static const struct {
        int64_t bytes, from, to;
    } cases[] = {{-1, INT64_MIN, 0}, {INT64_MIN, INT64_MIN, 0},
                 {0, 0, 1},          {1, 1, 2},
                 {2, 2, 4},          {3, 2, 4},
                 {4, 4, 8},          {511, 256, 512},
                 {512, 512, 1024},   {INT64_MAX, INT64_C(1) << 62, INT64_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct story s;
        struct allocation_histograms h;
        story_begin(&s, 4);
        story_alloc(&s, "a", cases[i].bytes);
        allocation_histograms_make(&s.build.profile, &s.build.timeline, &h);
        assert_int_equal(h.size_count, 1);
        assert_int_equal(h.sizes[0].from, cases[i].from);
        assert_int_equal(h.sizes[0].to, cases[i].to);
        assert_int_equal(h.sizes[0].bytes, cases[i].bytes);
        story_done(&s);
    }
}

static void lifetimes_stand_in_the_range_that_holds_them(void **state) {
    (void)state;
    static const struct {
        int64_t lifetime, from, to;
    } cases[] = {{0, 0, 1000}, {999, 0, 1000}, {1000, 1000, 10000}, {INT64_MAX, 1000000000000000000, INT64_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct story s;
        struct allocation_histograms h;
        story_begin(&s, 4);
        uint32_t row = story_alloc(&s, "a", 8);
        s.time_ps = cases[i].lifetime;
        story_free(&s, row);
        allocation_histograms_make(&s.build.profile, &s.build.timeline, &h);
        assert_int_equal(h.lifetime_count, 1);
        assert_int_equal(h.lifetimes[0].from, cases[i].from);
        assert_int_equal(h.lifetimes[0].to, cases[i].to);
        assert_int_equal(h.never_freed_count, 0);
        story_done(&s);
    }
}

static void no_memory_is_an_error(void **state) {
    (void)state;
    struct story s;
    struct memory_breakdown b;
    struct op_totals totals;
    story_begin(&s, 4);
    story_alloc(&s, "a", 8);
    s.build.profile.sites.count = UINT32_MAX;
    struct arena small;
    arena_init(&small, 1 << 16);
    assert_false(memory_breakdown_make(&s.build.profile, &s.build.timeline, 0, &small, &b, &s.error));
    assert_int_equal(s.error.code, ERROR_TOO_BIG);
    assert_false(op_totals_make(&s.build.profile, &s.build.timeline, &small, &totals, &s.error));
    assert_int_equal(s.error.code, ERROR_TOO_BIG);
    arena_free(&small);
    story_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_alive_is_merged_by_site),
        cmocka_unit_test(a_time_means_the_last_event_before_it),
        cmocka_unit_test(the_peak_is_the_first_of_equal_ones),
        cmocka_unit_test(an_allocator_that_tells_only_zeros),
        cmocka_unit_test(rows_and_the_unexplained_are_the_heap_at_every_event),
        cmocka_unit_test(totals_count_what_each_op_did),
        cmocka_unit_test(the_median_is_that_of_the_sorted_lifetimes),
        cmocka_unit_test(totals_agree_with_histograms_and_the_last_breakdown),
        cmocka_unit_test(sizes_stand_in_the_range_that_holds_them),
        cmocka_unit_test(lifetimes_stand_in_the_range_that_holds_them),
        cmocka_unit_test(no_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
