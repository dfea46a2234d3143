// The cache of blocks: what is there, what has gone, and never more than its limit.
#include "tests/unit/cmocka_all.h"

#include "server/storage/block_cache.h"

static const struct file_version first = {.inode = 2, .modified_s = 4}, second = {.inode = 2, .modified_s = 5};

static void put(struct block_cache *cache, const struct file_version *of, uint64_t block, uint8_t fill, size_t size) {
    uint8_t bytes[BLOCK_CACHE_BLOCK_BYTES];
    memset(bytes, fill, size);
    block_cache_put(cache, of, block, (struct bytes){bytes, size});
}

static void what_was_put_is_there(void **state) {
    (void)state;
    uint8_t to[100];
    struct block_cache *cache = block_cache_new(1 << 20);
    put(cache, &first, 7, 'a', 50);
    assert_int_equal(block_cache_copy(cache, &first, 7, 10, to, sizeof to), 40);
    assert_int_equal(to[39], 'a');
    assert_int_equal(block_cache_copy(cache, &first, 7, 0, to, 3), 3);
    assert_int_equal(block_cache_copy(cache, &first, 7, 50, to, 3), 0);
    assert_int_equal(block_cache_copy(cache, &first, 8, 0, to, 3), 0);
    assert_int_equal(block_cache_copy(cache, &second, 7, 0, to, 3), 0);
    assert_true(block_cache_has(cache, &first, 7));
    put(cache, &first, 7, 'b', 50);  // two threads fetched the same: one is kept
    assert_int_equal(block_cache_copy(cache, &first, 7, 0, to, 1), 1);
    assert_int_equal(to[0], 'a');
    block_cache_free(cache);
}

static void the_least_recently_used_goes_first(void **state) {
    (void)state;
    uint8_t byte;
    struct block_cache *cache = block_cache_new((size_t)4 * (BLOCK_CACHE_BLOCK_BYTES + 200));
    for (uint64_t block = 0; block < 4; block++) put(cache, &first, block, (uint8_t)block, BLOCK_CACHE_BLOCK_BYTES);
    assert_int_equal(block_cache_copy(cache, &first, 0, 0, &byte, 1), 1);
    put(cache, &first, 4, 4, BLOCK_CACHE_BLOCK_BYTES);
    assert_true(block_cache_has(cache, &first, 0));
    assert_false(block_cache_has(cache, &first, 1));
    assert_true(block_cache_has(cache, &first, 4));
    for (uint64_t block = 100; block < 2000; block++) put(cache, &second, block, 1, BLOCK_CACHE_BLOCK_BYTES);
    size_t kept = 0;
    for (uint64_t block = 0; block < 2000; block++) {
        kept += block_cache_has(cache, &first, block);
        kept += block_cache_has(cache, &second, block);
    }
    assert_int_equal(kept, 4);
    block_cache_free(cache);
}

static void no_room_is_no_fault(void **state) {
    (void)state;
    struct block_cache *cache = block_cache_new(0);
    put(cache, &first, 0, 1, 10);
    assert_false(block_cache_has(cache, &first, 0));
    block_cache_free(cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_is_there),
        cmocka_unit_test(the_least_recently_used_goes_first),
        cmocka_unit_test(no_room_is_no_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
