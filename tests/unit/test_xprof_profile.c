// What XProf makes of hand-built events. The expected figures are XProf 2.24.2's for the same events
// (tests/http/memory_profile_cases.py has them as files).
#include "analysis/profile/xprof/xprof_profile.h"

#include <stdlib.h>

#include "analysis/profile/events/data_type_name.h"
#include "tests/unit/cmocka_all.h"

enum { MAX_EVENTS = 4096, MAX_THREADS = 4, NO_STEP = -1 };

struct event {
    int64_t time_ps, heap, step;
    const char *op;
    int64_t allocated, requested;
    int64_t data_type;
    uint64_t address;
    uint32_t thread;
    bool is_free;
};

struct fixture {
    struct arena arena;
    struct memory_profile profile;
    struct memory_timeline timeline;
    struct memory_thread threads[MAX_THREADS];
    struct xprof_profile made;
    struct error error;
};

static void *column(struct fixture *f, size_t size) {
    void *made = arena_push(&f->arena, MAX_EVENTS, size);
    assert_non_null(made);
    return made;
}

static struct fixture *setup(void) {
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    arena_init(&f->arena, 0);
    f->timeline = (struct memory_timeline){
        .time_ps = column(f, 8),
        .heap_bytes = column(f, 8),
        .stack_bytes = column(f, 8),
        .free_bytes = column(f, 8),
        .peak_bytes = column(f, 8),
        .fragmentation = column(f, sizeof(double)),
        .address = column(f, 8),
        .step = column(f, 8),
        .site = column(f, 4),
        .partner = column(f, 4),
        .thread = column(f, 4),
        .flags = column(f, 1),
    };
    f->profile = (struct memory_profile){
        .timelines = &f->timeline,
        .timeline_count = 1,
        .sites = {.sites = column(f, sizeof(struct allocation_site))},
        .threads = f->threads,
        .thread_count = MAX_THREADS,
        .lines_start_together = true,
    };
    return f;
}

static void done(struct fixture *f) {
    arena_free(&f->arena);
    free(f);
}

// Events are added in time order. Each has a site of its own, so that merging is XProf's rule and not the site's.
static uint32_t add(struct fixture *f, struct event event) {
    struct memory_timeline *t = &f->timeline;
    uint32_t row = t->count++;
    t->time_ps[row] = event.time_ps + f->threads[event.thread].begin_ps;
    t->heap_bytes[row] = event.heap;
    t->address[row] = event.address;
    t->step[row] = event.step == NO_STEP ? 0 : event.step;
    t->thread[row] = event.thread;
    t->partner[row] = MEMORY_EVENT_NONE;
    t->flags[row] = (uint8_t)((event.is_free ? MEMORY_EVENT_IS_FREE : 0) |
                              (event.step == NO_STEP ? MEMORY_EVENT_STEP_IS_COMPLETED : 0));
    t->site[row] = f->profile.sites.count++;
    f->profile.sites.sites[row] = (struct allocation_site){.op = bytes_of(event.op ? event.op : ""),
                                                           .region_type = BYTES("output"),
                                                           .shape = BYTES("unknown"),
                                                           .data_type = event.data_type,
                                                           .requested_bytes = event.requested,
                                                           .allocated_bytes = event.allocated};
    f->timeline.file_order = (struct memory_file_order){.peak = row, .last = row};
    return row;
}

static void build(struct fixture *f) {
    assert_true(xprof_profile_build(&f->profile, &f->timeline, &f->arena, &f->made, &f->error));
}

static void assert_op(const struct fixture *f, uint32_t place, const char *op, uint32_t occurrences) {
    const struct xprof_breakdown *table = &f->made.breakdown;
    assert_true(place < table->count);
    const struct xprof_allocation *allocation = &table->allocations[place];
    bool is_special = allocation->special != XPROF_NOT_SPECIAL;
    assert_int_equal(is_special, allocation->row == MEMORY_EVENT_NONE);
    struct bytes there = is_special ? table->specials[allocation->special].op
                                    : f->profile.sites.sites[f->timeline.site[allocation->row]].op;
    assert_true(bytes_equal(there, bytes_of(op)));
    assert_int_equal(allocation->occurrences, occurrences);
}

static void a_free_takes_the_first_allocation_at_its_address(void **state) {
    (void)state;
    struct fixture *f = setup();
    const struct event events[] = {
        {0, 1, 0, "A", 1, .address = 1},
        {10, 2, 0, "B", 2, .address = 1},
        {20, 1, 0, "", 3, .address = 1, .is_free = true},
        {30, 0, 0, "", 4, .address = 1, .is_free = true},
        {40, 5, 0, "C", 5, .address = 2},
        {50, 9, 0, "D", 6, .address = 2},
        {60, 12, 0, "E", 7, .address = 3},
    };
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) add(f, events[i]);
    f->timeline.partner[2] = 1;  // the engine's own matching is another
    f->timeline.reused_address_count = 2;
    build(f);
    assert_true(bytes_equal(xprof_order_texts(&f->made.order, 2)->op, BYTES("A")));
    assert_true(bytes_equal(xprof_order_texts(&f->made.order, 3)->op, BYTES("")));
    assert_int_equal(f->made.breakdown.count, 2);
    assert_op(f, 0, "E", 1);
    assert_op(f, 1, "D", 1);
    done(f);
}

static void matching_is_taken_over_where_no_address_was_reused(void **state) {
    (void)state;
    struct fixture *f = setup();
    add(f, (struct event){0, 1, 0, "A", 1, .address = 1});
    add(f, (struct event){10, 0, 0, "", 1, .address = 1, .is_free = true});
    f->timeline.partner[0] = 1;
    f->timeline.partner[1] = 0;
    build(f);
    assert_ptr_equal(f->made.order.allocation, f->timeline.partner);
    assert_ptr_equal(f->made.order.step, f->timeline.step);
    assert_null(f->made.order.rows);
    assert_true(bytes_equal(xprof_order_texts(&f->made.order, 0)->op, BYTES("A")));
    assert_true(bytes_equal(xprof_order_texts(&f->made.order, 1)->op, BYTES("A")));
    done(f);
}

static void of_equal_peaks_the_file_gives_the_time_and_time_the_step(void **state) {
    (void)state;
    struct fixture *f = setup();
    const int64_t heap[] = {10, 10, 100, 100, 100, 10, 10, 100};
    for (uint32_t i = 0; i < 8; i++) {
        add(f, (struct event){5 + (int64_t)5 * i, heap[i], i / 2, "op", 256, .address = i, .thread = i % 2});
        f->timeline.peak_bytes[i] = 200 + i;
        f->timeline.free_bytes[i] = 1000;
    }
    f->timeline.file_order = (struct memory_file_order){.peak = 4, .last = 6};
    build(f);
    assert_int_equal(f->made.peak_time_ps, 25);
    assert_int_equal(f->made.peak_bytes, 100);
    assert_int_equal(f->made.capacity_bytes, 1100);
    assert_int_equal(f->made.peak_step, 3);
    assert_int_equal(f->made.lifetime_peak_bytes, 206);
    assert_int_equal(f->made.breakdown.count, 1);
    assert_op(f, 0, "unused preallocated device memory", 1);
    assert_int_equal(f->made.breakdown.specials[0].allocated_bytes, 100);
    done(f);
}

static void rows_that_look_alike_are_merged(void **state) {
    (void)state;
    struct fixture *f = setup();
    const int64_t types[] = {0, (int64_t)1 << 32, ALLOCATION_SITE_NO_DATA_TYPE, 1, 101, 1};
    for (uint32_t i = 0; i < 6; i++)
        add(f, (struct event){(int64_t)10 * i, (int64_t)100 * i, 0, "m", 1, 1, .data_type = types[i], .address = i});
    uint32_t stack = add(f, (struct event){100, 1000, 0, "stack", 64, 64, .data_type = 0, .address = 77});
    f->profile.sites.sites[stack].region_type = BYTES("stack");
    f->timeline.stack_bytes[stack] = 64;
    build(f);
    assert_int_equal(f->made.breakdown.count, 6);
    assert_op(f, 0, "unused preallocated device memory", 1);
    assert_op(f, 1, "stack", 2);
    const uint32_t occurrences[] = {1, 2, 2, 1}, first[] = {2, 0, 3, 4};  // "", INVALID, float, float_ref
    for (uint32_t i = 0; i < 4; i++) {
        assert_op(f, 2 + i, "m", occurrences[i]);
        assert_int_equal(f->made.breakdown.allocations[2 + i].row, first[i]);
    }
    assert_int_equal(f->made.breakdown.specials[0].allocated_bytes, 930);
    assert_int_equal(f->made.breakdown.specials[1].allocated_bytes, 64);
    done(f);
}

// Rows are apart when anything that is shown differs; large first, then in the order of the texts.
static void rows_that_differ_are_apart(void **state) {
    (void)state;
    struct fixture *f = setup();
    static const struct {
        const char *op, *region, *shape;
        int64_t requested;
    } rows[] = {{"b", "temp", "[2]", 8},   {"b", "output", "[2]", 8}, {"a", "temp", "[2]", 8},
                {"b", "output", "[1]", 8}, {"b", "output", "[2]", 9}, {"b", "output", "[2]", 8}};
    for (uint32_t i = 0; i < 6; i++) {
        add(f, (struct event){i, 96, 0, rows[i].op, 16, rows[i].requested, .data_type = 1, .address = i});
        f->profile.sites.sites[i].region_type = bytes_of(rows[i].region);
        f->profile.sites.sites[i].shape = bytes_of(rows[i].shape);
    }
    for (uint32_t i = 6; i < 9; i++) {
        add(f, (struct event){i, 144, 0, NULL, 0, .address = i});
        f->timeline.site[i] = 5;  // three more of a site that is there
    }
    build(f);
    const uint32_t first[] = {4, 2, 3, 1, 0}, occurrences[] = {1, 1, 1, 5, 1};
    assert_int_equal(f->made.breakdown.count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(f->made.breakdown.allocations[i].row, first[i]);
        assert_int_equal(f->made.breakdown.allocations[i].occurrences, occurrences[i]);
    }
    done(f);
}

static void a_peak_at_the_first_event_has_its_step(void **state) {
    (void)state;
    struct fixture *f = setup();
    add(f, (struct event){0, 9, 5, "A", 9, .address = 1});
    add(f, (struct event){1, 8, 6, "B", 8, .address = 2});
    f->timeline.file_order.peak = 0;
    build(f);
    assert_int_equal(f->made.peak_step, 5);
    assert_int_equal(f->made.breakdown.count, 1);
    assert_op(f, 0, "A", 1);
    done(f);
}

static void only_the_step_of_the_peak_counts(void **state) {
    (void)state;
    struct fixture *f = setup();
    static const struct {
        int64_t step;
        bool is_free;
        uint64_t address;
        const char *op;
    } events[] = {{2, false, 1, "0"}, {3, true, 1, "1"},   {2, false, 1, "2"}, {2, true, 1, "3"}, {2, false, 2, "4"},
                  {3, true, 2, "5"},  {3, false, 2, "6"},  {2, true, 2, "7"},  {2, true, 3, "8"}, {2, false, 4, "9"},
                  {3, true, 4, "10"}, {2, false, 5, "11"}, {2, false, 6, "12"}};
    for (uint32_t i = 0; i < 13; i++) {
        uint32_t row = add(f, (struct event){(int64_t)10 * i, (int64_t)1000 * (i + 1), events[i].step, events[i].op,
                                             256, .address = events[i].address, .is_free = events[i].is_free});
        f->timeline.stack_bytes[row] = 7;
    }
    build(f);
    assert_int_equal(f->made.breakdown.count, 5);
    assert_op(f, 0, "unused preallocated device memory", 1);
    assert_int_equal(f->made.breakdown.specials[0].requested_bytes, 11976);
    assert_op(f, 1, "11", 1);
    assert_op(f, 2, "12", 1);
    assert_op(f, 3, "9", 1);
    assert_op(f, 4, "stack", 1);
    done(f);
}

static void lines_that_start_apart_are_ordered_by_their_own_clocks(void **state) {
    (void)state;
    struct fixture *f = setup();
    f->threads[1].begin_ps = 100;
    add(f, (struct event){20, 1, 5, "a", 1, .address = 1});
    add(f, (struct event){90, 2, NO_STEP, "", 1, .address = 2, .is_free = true});
    add(f, (struct event){10, 3, NO_STEP, "b", 1, .address = 2, .thread = 1});
    add(f, (struct event){20, 4, NO_STEP, "c", 1, .address = 3, .thread = 1});
    f->profile.lines_start_together = false;
    f->timeline.partner[1] = MEMORY_EVENT_NONE;
    build(f);
    const uint32_t rows[] = {2, 0, 3, 1};
    const int64_t steps[] = {5, 6, 0, 6};
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(f->made.sampled_rows[i], rows[i]);
        assert_int_equal(f->made.order.step[i], steps[i]);
    }
    assert_true(bytes_equal(xprof_order_texts(&f->made.order, 1)->op, BYTES("b")));
    assert_int_equal(xprof_order_time_ps(&f->made.order, 3), 20);
    assert_int_equal(f->made.peak_time_ps, 20);
    done(f);
}

static void below_zero_there_is_no_peak(void **state) {
    (void)state;
    struct fixture *f = setup();
    for (uint32_t i = 0; i < 5; i++)
        add(f, (struct event){(int64_t)10 * i, -5 - (int64_t)i, i, "x", 1, .address = i, .is_free = i % 2});
    build(f);
    assert_int_equal(f->made.peak_row, MEMORY_EVENT_NONE);
    assert_int_equal(f->made.peak_bytes, 0);
    assert_int_equal(f->made.peak_time_ps, 0);
    assert_int_equal(f->made.peak_step, 0);
    assert_int_equal(f->made.breakdown.count, 1);
    assert_op(f, 0, "x", 1);
    done(f);
}

static void sample_count(uint32_t count, const uint32_t *boxes) {
    struct fixture *f = setup();
    for (uint32_t i = 0; i < count; i++) add(f, (struct event){i, i % 2 ? 7 : 3, 0, "x", 1, .address = i});
    build(f);
    assert_int_equal(f->made.sampled_count, count < 1000 ? count : 1000);
    for (uint32_t i = 0; i < f->made.sampled_count; i++) {
        uint32_t begin = i < boxes[0] ? i * boxes[1] : boxes[0] * boxes[1] + (i - boxes[0]) * boxes[2];
        uint32_t width = i < boxes[0] ? boxes[1] : boxes[2];
        assert_int_equal(f->made.sampled_rows[i], width == 1 || begin % 2 ? begin : begin + 1);
    }
    done(f);
}

// boxes: how many of the first width, that width, the width of the others
static void of_each_box_the_first_of_the_fullest_is_sampled(void **state) {
    (void)state;
    sample_count(1, (const uint32_t[]){1, 1, 0});
    sample_count(999, (const uint32_t[]){999, 1, 0});
    sample_count(1000, (const uint32_t[]){1000, 1, 0});
    sample_count(1001, (const uint32_t[]){999, 1, 2});
    sample_count(1999, (const uint32_t[]){1, 1, 2});
    sample_count(2000, (const uint32_t[]){1000, 2, 0});
    sample_count(2500, (const uint32_t[]){500, 2, 3});
    sample_count(4096, (const uint32_t[]){904, 4, 5});
}

static void a_timeline_without_events_is_empty(void **state) {
    (void)state;
    struct fixture *f = setup();
    build(f);
    assert_int_equal(f->made.sampled_count, 0);
    assert_int_equal(f->made.breakdown.count, 0);
    f->profile.lines_start_together = false;
    build(f);
    assert_int_equal(f->made.sampled_count, 0);
    done(f);
}

static void an_arena_at_its_limit_is_an_error(void **state) {
    (void)state;
    for (int is_together = 0; is_together < 2; is_together++) {
        struct fixture *f = setup();
        for (uint32_t i = 0; i < 4000; i++) add(f, (struct event){i, 1, 0, "x", 1, .address = i});
        f->profile.lines_start_together = is_together;
        struct arena small;
        arena_init(&small, 20000);
        assert_false(xprof_profile_build(&f->profile, &f->timeline, &small, &f->made, &f->error));
        assert_int_equal(f->error.code, ERROR_TOO_BIG);
        arena_free(&small);
        done(f);
    }
}

static void data_types_have_the_names_xprof_prints(void **state) {
    (void)state;
    static const struct {
        int64_t type;
        const char *name;
    } expected[] = {
        {ALLOCATION_SITE_NO_DATA_TYPE, ""},
        {0, "INVALID"},
        {1, "float"},
        {19, "half"},
        {24, "float8_e5m2"},
        {28, "float8_e5m2fnuz"},
        {30, "uint4"},
        {31, "unknown dtype enum (31)"},
        {100, "unknown dtype enum (100)"},
        {101, "float_ref"},
        {130, "uint4_ref"},
        {131, "unknown dtype enum (31)_ref"},
        {200, "unknown dtype enum (100)_ref"},
        {-1, "unknown dtype enum (-1)"},
        {(int64_t)1 << 31, "unknown dtype enum (-2147483648)"},
        {((int64_t)1 << 31) - 1, "unknown dtype enum (2147483547)_ref"},
        {((int64_t)1 << 32) + 2, "double"},
        {INT64_MAX, "unknown dtype enum (-1)"},
    };
    char buffer[DATA_TYPE_NAME_BYTES];
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_string_equal(data_type_name(expected[i].type, buffer), expected[i].name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_takes_the_first_allocation_at_its_address),
        cmocka_unit_test(matching_is_taken_over_where_no_address_was_reused),
        cmocka_unit_test(of_equal_peaks_the_file_gives_the_time_and_time_the_step),
        cmocka_unit_test(rows_that_look_alike_are_merged),
        cmocka_unit_test(rows_that_differ_are_apart),
        cmocka_unit_test(a_peak_at_the_first_event_has_its_step),
        cmocka_unit_test(only_the_step_of_the_peak_counts),
        cmocka_unit_test(lines_that_start_apart_are_ordered_by_their_own_clocks),
        cmocka_unit_test(below_zero_there_is_no_peak),
        cmocka_unit_test(of_each_box_the_first_of_the_fullest_is_sampled),
        cmocka_unit_test(a_timeline_without_events_is_empty),
        cmocka_unit_test(an_arena_at_its_limit_is_an_error),
        cmocka_unit_test(data_types_have_the_names_xprof_prints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
