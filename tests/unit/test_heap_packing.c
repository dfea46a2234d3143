#include "analysis/advice/heap_packing.h"

#include "tests/unit/cmocka_all.h"

// Blocks told by hand: buffer i has size sizes[i]; each stay is {buffer, start, end}, by start.
struct fixture {
    struct hlo_module module;
    struct heap_replay replay;
    struct heap_packing packing;
    struct arena arena;
    struct error error;
};

static void add_stay(struct fixture *f, uint32_t buffer, uint32_t start, uint32_t end) {
    uint32_t i = f->replay.stay_count++;
    f->replay.spans[i] = (struct heap_span){.buffer = buffer, .start_step = start, .own_end_step = end};
    f->replay.stays[i] = (struct heap_stay){.span = i, .root = buffer, .start_step = start, .end_step = end};
    if (end > f->replay.step_count) f->replay.step_count = end;
}

static void start(struct fixture *f, uint32_t buffers, uint32_t stays) {
    *f = (struct fixture){0};
    arena_init(&f->arena, 0);
    f->module.buffers = arena_new(&f->arena, struct hlo_buffer, buffers);
    f->module.buffer_count = buffers;
    f->replay.spans = arena_new(&f->arena, struct heap_span, stays);
    f->replay.stays = arena_new(&f->arena, struct heap_stay, stays);
    for (uint32_t i = 0; i < buffers; i++) f->module.buffers[i].id = i;
}

static void pack(struct fixture *f, enum heap_order order, int64_t alignment_bytes) {
    bool is_good = heap_packing_run(&f->module, &f->replay, order, alignment_bytes, &f->arena, &f->packing, &f->error);
    if (!is_good) fail_msg("%s", f->error.message);
}

static void expect_offsets(const struct fixture *f, const int64_t *offsets, int64_t total_bytes) {
    for (uint32_t i = 0; i < f->replay.stay_count; i++) assert_int_equal(f->packing.offset_of_stay[i], offsets[i]);
    assert_int_equal(f->packing.total_bytes, total_bytes);
}

// Buffers of 10, 30, 10, 20 and 8 bytes, of which 1 and 3 go before 4 comes.
static void start_with_two_gaps(struct fixture *f) {
    static const int64_t sizes[] = {10, 30, 10, 20, 8};
    start(f, 5, 5);
    for (uint32_t i = 0; i < 5; i++) f->module.buffers[i].size_bytes = sizes[i];
    add_stay(f, 0, 0, 9);
    add_stay(f, 1, 1, 5);
    add_stay(f, 2, 2, 9);
    add_stay(f, 3, 3, 6);
    add_stay(f, 4, 7, 9);
}

static void in_program_order_the_first_lies_lowest(void **state) {
    (void)state;
    struct fixture f;
    start_with_two_gaps(&f);
    pack(&f, HEAP_PROGRAM_ORDER, 1);
    expect_offsets(&f, (int64_t[]){0, 10, 40, 50, 10}, 70);
    arena_free(&f.arena);
}

static void the_largest_or_the_longest_lies_lowest(void **state) {
    (void)state;
    struct fixture f;
    start_with_two_gaps(&f);
    pack(&f, HEAP_LARGEST_FIRST, 1);
    expect_offsets(&f, (int64_t[]){50, 0, 60, 30, 0}, 70);
    pack(&f, HEAP_LONGEST_FIRST, 1);
    expect_offsets(&f, (int64_t[]){0, 20, 10, 50, 20}, 70);
    arena_free(&f.arena);
}

static void of_two_gaps_the_smaller_is_taken(void **state) {
    (void)state;
    struct fixture f;
    static const int64_t sizes[] = {20, 5, 9, 5, 8};
    start(&f, 5, 5);
    for (uint32_t i = 0; i < 5; i++) f.module.buffers[i].size_bytes = sizes[i];
    add_stay(&f, 0, 0, 4);
    add_stay(&f, 1, 1, 9);
    add_stay(&f, 2, 2, 4);
    add_stay(&f, 3, 3, 9);
    add_stay(&f, 4, 5, 9);
    pack(&f, HEAP_PROGRAM_ORDER, 1);
    expect_offsets(&f, (int64_t[]){0, 20, 25, 34, 25}, 39);
    arena_free(&f.arena);
}

static void others_may_lie_where_a_block_is_between_its_stays(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 2, 3);
    f.module.buffers[0].size_bytes = 100;
    f.module.buffers[1].size_bytes = 60;
    add_stay(&f, 0, 0, 1);
    add_stay(&f, 1, 2, 3);
    add_stay(&f, 0, 4, 5);
    pack(&f, HEAP_LARGEST_FIRST, 1);
    expect_offsets(&f, (int64_t[]){0, 0, 0}, 100);
    f.replay.stays[1].end_step = 5;
    pack(&f, HEAP_LARGEST_FIRST, 1);
    expect_offsets(&f, (int64_t[]){0, 100, 0}, 160);
    arena_free(&f.arena);
}

static void offsets_are_aligned(void **state) {
    (void)state;
    struct fixture f;
    start_with_two_gaps(&f);
    pack(&f, HEAP_PROGRAM_ORDER, 16);
    expect_offsets(&f, (int64_t[]){0, 16, 48, 64, 16}, 84);
    arena_free(&f.arena);
}

static void buffers_without_bytes_lie_nowhere(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 2, 2);
    f.module.buffers[1].size_bytes = 7;
    add_stay(&f, 0, 0, 3);
    add_stay(&f, 1, 1, 2);
    pack(&f, HEAP_LARGEST_FIRST, 1);
    expect_offsets(&f, (int64_t[]){HEAP_UNPLACED, 0}, 7);
    assert_int_equal(f.packing.unplaced_blocks, 0);
    arena_free(&f.arena);
}

static void sums_past_the_limit_are_refused(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 2, 2);
    f.module.buffers[0].size_bytes = f.module.buffers[1].size_bytes = INT64_MAX / 3;
    add_stay(&f, 0, 0, 2);
    add_stay(&f, 1, 1, 2);
    assert_false(heap_packing_run(&f.module, &f.replay, HEAP_LARGEST_FIRST, 1, &f.arena, &f.packing, &f.error));
    assert_int_equal(f.error.code, ERROR_MALFORMED);
    arena_free(&f.arena);
}

// --- Properties ---

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

static void start_at_random(struct fixture *f, uint32_t count, uint32_t *seed) {
    start(f, count, count);
    for (uint32_t i = 0; i < count; i++) f->module.buffers[i].size_bytes = next_random(seed) % 1000;
    for (uint32_t i = 0; i < count; i++)
        add_stay(f, next_random(seed) % 8 ? i : i / 2, 4 * i, 4 * i + 1 + next_random(seed) % 100);
    for (uint32_t i = 0; i < count; i++) {  // stays of one block follow each other
        struct heap_stay *half = &f->replay.stays[f->replay.stays[i].root];
        if (f->replay.stays[i].root != i && half->end_step > 4 * i) half->end_step = 4 * i;
    }
}

static int64_t size_of(const struct fixture *f, uint32_t stay) {
    return f->module.buffers[f->replay.stays[stay].root].size_bytes;
}

static void expect_no_overlap(const struct fixture *f, uint32_t i, uint32_t k) {
    const struct heap_stay *a = &f->replay.stays[i], *b = &f->replay.stays[k];
    const int64_t *offset = f->packing.offset_of_stay;
    bool is_apart = a->start_step >= b->end_step || b->start_step >= a->end_step;
    if (is_apart || a->root == b->root || !size_of(f, i) || !size_of(f, k)) return;
    assert_true(offset[i] >= offset[k] + size_of(f, k) || offset[k] >= offset[i] + size_of(f, i));
}

static void check_packing(const struct fixture *f) {
    int64_t top = 0;
    for (uint32_t i = 0; i < f->replay.stay_count; i++) {
        int64_t offset = f->packing.offset_of_stay[i];
        if (!size_of(f, i)) continue;
        assert_true(offset >= 0 && offset % 8 == 0);
        if (offset + size_of(f, i) > top) top = offset + size_of(f, i);
        for (uint32_t k = 0; k < i; k++) expect_no_overlap(f, i, k);
    }
    assert_int_equal(f->packing.total_bytes, top);
}

static void what_is_live_at_once_never_overlaps(void **state) {
    (void)state;
    uint32_t seed = 3;
    for (int i = 0; i < 60; i++) {
        struct fixture f;
        start_at_random(&f, 1 + next_random(&seed) % 120, &seed);
        for (int order = HEAP_PROGRAM_ORDER; order <= HEAP_LONGEST_FIRST; order++) {
            pack(&f, (enum heap_order)order, 8);
            check_packing(&f);
        }
        arena_free(&f.arena);
    }
}

// All live at once: each would look at all before it.
static void half_a_million_buffers_are_packed_as_far_as_the_limit_and_counted_beyond(void **state) {
    (void)state;
    enum { COUNT = 500000 };
    struct fixture f;
    start(&f, COUNT, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        f.module.buffers[i].size_bytes = 1 + i % 7;
        add_stay(&f, i, i, 2 * COUNT);
        f.replay.peak_bytes += 1 + i % 7;
    }
    for (int order = HEAP_PROGRAM_ORDER; order <= HEAP_LONGEST_FIRST; order++) {
        pack(&f, (enum heap_order)order, 1);
        assert_true(f.packing.unplaced_blocks > COUNT / 2 && f.packing.unplaced_blocks < COUNT);
        assert_int_equal(f.packing.total_bytes, f.replay.peak_bytes);
    }
    arena_free(&f.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_program_order_the_first_lies_lowest),
        cmocka_unit_test(the_largest_or_the_longest_lies_lowest),
        cmocka_unit_test(of_two_gaps_the_smaller_is_taken),
        cmocka_unit_test(others_may_lie_where_a_block_is_between_its_stays),
        cmocka_unit_test(offsets_are_aligned),
        cmocka_unit_test(buffers_without_bytes_lie_nowhere),
        cmocka_unit_test(sums_past_the_limit_are_refused),
        cmocka_unit_test(what_is_live_at_once_never_overlaps),
        cmocka_unit_test(half_a_million_buffers_are_packed_as_far_as_the_limit_and_counted_beyond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
