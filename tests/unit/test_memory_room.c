// The limit of the process's memory: what counts, what gives way, what is refused.
#include "tests/unit/cmocka_all.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "analysis/base/arena.h"
#include "analysis/base/counted_block.h"
#include "analysis/base/large_block.h"
#include "analysis/base/memory_room.h"
#include "analysis/base/refused_memory.h"

#define MIB ((size_t)1 << 20)

static int end_limit(void **state) {
    (void)state;
    memory_room_set(0, NULL, NULL);
    memory_room_leave(0);
    return memory_room_taken() ? 1 : 0;
}

static void arenas_and_blocks_count_what_they_take_and_give_it_back(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    assert_non_null(arena_push(&arena, 5 * MIB / 2, 1));
    assert_int_equal(memory_room_taken(), 4 * MIB);  // whole large pages, as the system gives them
    assert_true(arena.used_bytes <= 4 * MIB && arena.used_bytes > 4 * MIB - 100);
    struct growing_block block = {0};
    assert_true(large_block_reserve(&block, 100));
    assert_int_equal(memory_room_taken(), 4 * MIB + block.capacity_bytes);
    assert_true(large_block_reserve(&block, 3 * MIB));
    assert_int_equal(memory_room_taken(), 4 * MIB + block.capacity_bytes);
    large_block_release(&block);
    arena_free(&arena);
    assert_int_equal(memory_room_taken(), 0);
}

static void what_a_library_asks_for_counts(void **state) {
    (void)state;
    uint64_t before = memory_refusals();
    char *block = counted_block_new(NULL, 1000, 64);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % _Alignof(max_align_t), 0);
    memset(block, 1, (size_t)1000 * 64);
    assert_in_range(memory_room_taken(), 1000 * 64, 1000 * 64 + 64);
    memory_room_set(memory_room_taken() + 1000, NULL, NULL);
    assert_null(counted_block_new(NULL, 1, 1000));
    assert_null(counted_block_new(NULL, UINT_MAX, UINT_MAX));
    counted_block_free(NULL, block);
    counted_block_free(NULL, NULL);
    assert_int_equal(memory_room_taken(), 0);
    assert_int_equal(memory_refusals(), before);
}

static void a_block_shrinks_to_what_is_used(void **state) {
    (void)state;
    char *block = large_block_new(8 * MIB);
    assert_non_null(block);
    memcpy(block, "kept", 5);
    char *smaller = large_block_shrink(block, 8 * MIB, 5);
    assert_non_null(smaller);
    assert_string_equal(smaller, "kept");
    assert_int_equal(memory_room_taken(), 5);
    large_block_free(smaller, 5);
    assert_int_equal(memory_room_taken(), 0);
}

static void what_would_pass_the_limit_is_refused(void **state) {
    (void)state;
    struct error error;
    uint64_t before = memory_refusals();
    memory_room_set(4 * MIB, NULL, NULL);
    void *first = large_block_new(2 * MIB);
    assert_non_null(first);
    assert_null(large_block_new(2 * MIB + 1));  // would be 4
    assert_true(memory_was_refused(before, &error));
    assert_int_equal(error.code, ERROR_NO_MEMORY);
    assert_non_null(strstr(error.message, "4 MiB of --memory_limit"));
    assert_int_equal(memory_room_taken(), 2 * MIB);
    void *second = large_block_new(2 * MIB);
    assert_non_null(second);
    struct growing_block block = {0};
    assert_false(large_block_reserve(&block, 1));
    large_block_free(first, 2 * MIB);
    assert_true(large_block_reserve(&block, 1));
    large_block_release(&block);
    large_block_free(second, 2 * MIB);
}

// Each alone says which it was; of both, memory.
static void descriptors_are_refused_as_memory_is(void **state) {
    (void)state;
    struct error error;
    uint64_t before = memory_refusals();
    memory_refused_descriptor();
    memory_refusals_add(memory_refusals() - before);  // another thread's
    assert_true(memory_was_refused(before, &error));
    assert_int_equal(error.code, ERROR_NO_MEMORY);
    assert_non_null(strstr(error.message, "no file descriptor left"));
    uint64_t then = memory_refusals();
    memory_refused_elsewhere(&error);
    assert_true(memory_was_refused(then, &error));
    assert_non_null(strstr(error.message, "no file descriptor left"));
    assert_null(memory_or_refusal(NULL));
    assert_true(memory_was_refused(before, &error));
    assert_null(strstr(error.message, "descriptor"));
}

static void what_is_left_for_others_is_not_taken(void **state) {
    (void)state;
    memory_room_set(4 * MIB, NULL, NULL);
    memory_room_leave(3 * MIB);
    assert_null(large_block_new(2 * MIB));
    memory_room_leave(5 * MIB);
    assert_null(large_block_new(1));
    memory_room_leave(2 * MIB);
    void *block = large_block_new(2 * MIB);
    assert_non_null(block);
    large_block_free(block, 2 * MIB);
}

struct kept {
    void *blocks[3];
    int count;
};

static bool drop_one(void *context, size_t bytes) {
    struct kept *kept = context;
    assert_int_equal(bytes, 4 * MIB);
    if (kept->count == 0) return false;
    large_block_free(kept->blocks[--kept->count], 2 * MIB);
    return true;
}

static void what_is_kept_gives_way_as_far_as_needed(void **state) {
    (void)state;
    struct kept kept = {0};
    memory_room_set(6 * MIB, drop_one, &kept);
    for (; kept.count < 3; kept.count++) assert_non_null(kept.blocks[kept.count] = large_block_new(2 * MIB));
    void *first = large_block_new(4 * MIB);
    assert_non_null(first);
    assert_int_equal(kept.count, 1);
    assert_null(large_block_new(4 * MIB));
    assert_int_equal(kept.count, 0);  // all of it was dropped, and it is not enough
    large_block_free(first, 4 * MIB);
}

static void it_is_tight_from_three_quarters_on(void **state) {
    (void)state;
    void *block = large_block_new(2 * MIB), *second = large_block_new(2 * MIB);
    assert_false(memory_room_is_tight());  // no limit
    memory_room_set(6 * MIB, NULL, NULL);
    assert_false(memory_room_is_tight());
    memory_room_leave(1 * MIB);
    assert_true(memory_room_is_tight());
    large_block_free(second, 2 * MIB);
    assert_false(memory_room_is_tight());
    large_block_free(block, 2 * MIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(arenas_and_blocks_count_what_they_take_and_give_it_back, end_limit),
        cmocka_unit_test_teardown(what_a_library_asks_for_counts, end_limit),
        cmocka_unit_test_teardown(a_block_shrinks_to_what_is_used, end_limit),
        cmocka_unit_test_teardown(what_would_pass_the_limit_is_refused, end_limit),
        cmocka_unit_test_teardown(descriptors_are_refused_as_memory_is, end_limit),
        cmocka_unit_test_teardown(what_is_left_for_others_is_not_taken, end_limit),
        cmocka_unit_test_teardown(what_is_kept_gives_way_as_far_as_needed, end_limit),
        cmocka_unit_test_teardown(it_is_tight_from_three_quarters_on, end_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
