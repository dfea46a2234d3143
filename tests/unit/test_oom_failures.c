// Which messages of a log tell of one failure: repeated, cut, and warned of by the allocator before the exception.
#include "tests/unit/oom_samples.h"

static void test_retries_and_differences(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    struct bytes log = BYTES(
        "Ran out of memory in memory space hbm. Used 20.00G of 15.75G hbm. Exceeded hbm capacity by "
        "4.25G.\nRan out of memory in memory space hbm. Used 20.00G of 15.75G hbm. Exceeded hb\n"
        "Ran out of memory in memory space hbm. Used 21.00G of 15.75G hbm. Exceeded hbm capacity by "
        "5.25G.\n");
    struct oom_log found = log_read(log, &arena);
    assert_int_equal(found.message_count, 2);
    assert_int_equal(found.messages[0].count, 2);
    assert_int_equal(found.messages[0].exceeded_bytes, 4563402752);
    assert_int_equal(found.messages[1].line, 3);
    arena_free(&arena);
}

// As jax 0.11 writes them on an H200.
static const char *const warning =
    "W1127 05:46:35.258580 9549 bfc_allocator.cc:598] Allocator (GPU_0_bfc) ran out of memory trying to allocate "
    "102.06GiB (rounded to 109588778496) from the lower end requested by op \n"
    "If this is caused by memory fragmentation, the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async' may "
    "improve the situation.\n"
    "Current allocation summary follows.\n";
static const char *const failure =
    "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 102.06GiB with allocator "
    "GPU_0_bfc on device 0. [executable_name='jit_train_step'] [tf-allocator-allocation-error='']\n";

static struct oom_log read_parts(struct arena *arena, const char *const *parts, size_t count) {
    const char *log = "";
    for (size_t i = 0; i < count; i++) log = arena_printf(arena, "%s%s", log, parts[i]);
    return log_read(bytes_of(log), arena);
}

static void test_warnings_and_the_exception_of_one_failure(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    const char *statistics = "Stats: \nLimit: 112583507968\nInUse: 4294967296\nMaxInUse: 1\nNumAllocs: 1\n"
                             "MaxAllocSize: 1\nReserved: 0\nPeakReserved: 0\nLargestFreeBlock: 805306368\n";
    const char *later = "Stats: \nLimit: 112583507968\nInUse: 5294967296\nMaxInUse: 1\nNumAllocs: 1\n"
                        "MaxAllocSize: 1\nReserved: 0\nPeakReserved: 0\nLargestFreeBlock: 705306368\n";
    const char *const parts[] = {warning, statistics, warning, later, failure, warning, failure};
    struct oom_log found = read_parts(&arena, parts, 7);
    assert_int_equal(found.message_count, 1);
    const struct oom_message *one = &found.messages[0];
    assert_int_equal(one->kind, OOM_GPU_ALLOCATION);
    assert_string_equal(one->module, "jit_train_step");
    assert_null(one->requested_by);
    assert_int_equal(one->count, 2);
    assert_int_equal(one->line, 1);
    assert_int_equal(one->last_line, 25);
    assert_int_equal(one->capacity_bytes, OOM_ABSENT);
    assert_int_equal(oom_message_row(one, "LargestFreeBlock"), 705306368);
    arena_free(&arena);
}

// Of two programs that asked for as much each has what was in use when it failed.
static void test_a_warning_is_of_the_failure_that_follows_it(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    const char *other = "Out of memory while trying to allocate 102.06GiB with allocator GPU_0_bfc on device 0. "
                        "[executable_name='jit_other']\n";
    const char *full = "Stats: \nLimit: 112583507968\nInUse: 98784247808\nMaxInUse: 1\n";
    const char *empty = "Stats: \nLimit: 112583507968\nInUse: 4294967296\nMaxInUse: 1\n";
    const char *const parts[] = {warning, empty, failure, warning, full, other, warning};
    struct oom_log found = read_parts(&arena, parts, 7);
    assert_int_equal(found.message_count, 3);
    assert_int_equal(oom_message_row(&found.messages[0], "InUse"), 4294967296);
    assert_string_equal(found.messages[1].module, "jit_other");
    assert_int_equal(oom_message_row(&found.messages[1], "InUse"), 98784247808);
    assert_int_equal(found.messages[2].kind, OOM_GPU_ALLOCATOR);
    arena_free(&arena);
}

static void test_a_warning_of_another_size_or_allocator_stays(void **state) {
    (void)state;
    static const char *const others[] = {
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 102.07GiB (rounded to 109599516160) requested by "
        "op layer/MatMul\nIf this is caused by memory fragmentation, it may.\n",
        "Allocator (GPU_1_bfc) ran out of memory trying to allocate 102.06GiB (rounded to 109588778496) requested by "
        "op layer/MatMul\nIf this is caused by memory fragmentation, it may.\n"};
    for (size_t i = 0; i < 2; i++) {
        struct arena arena;
        arena_init(&arena, 0);
        struct oom_log found = read_parts(&arena, (const char *const[]){others[i], failure}, 2);
        assert_int_equal(found.message_count, 2);
        assert_string_equal(found.messages[0].requested_by, "layer/MatMul");
        assert_int_equal(found.messages[1].line, 3);
        arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retries_and_differences),
        cmocka_unit_test(test_warnings_and_the_exception_of_one_failure),
        cmocka_unit_test(test_a_warning_is_of_the_failure_that_follows_it),
        cmocka_unit_test(test_a_warning_of_another_size_or_allocator_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
