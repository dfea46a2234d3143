// What is guessed of the reads to come: how far ahead, where the next heads are, and when to stop guessing.
#include "tests/unit/cmocka_all.h"

#include "server/storage/access_pattern.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

static uint64_t guessed_bytes(const struct access_guesses *guesses) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < guesses->count; i++) bytes += guesses->ranges[i].size;
    return bytes;
}

static bool covers(const struct access_guesses *guesses, uint64_t offset) {
    for (size_t i = 0; i < guesses->count; i++) {
        const struct access_range *range = &guesses->ranges[i];
        if (offset >= range->offset && offset - range->offset < range->size) return true;
    }
    return false;
}

static void whoever_goes_on_is_read_ahead_of(void **state) {
    (void)state;
    struct access_pattern pattern = access_pattern_of(100 * MIB, 8 * MIB);
    uint64_t at = 0, asked_until = 0;
    for (int i = 0; i < 2; i++, at += 64 * KIB) {
        struct access_guesses early = access_pattern_note(&pattern, at, 64 * KIB - 1);
        assert_int_equal(early.count, 0);
    }
    for (; at < 99 * MIB; at += 64 * KIB) {
        struct access_guesses guesses = access_pattern_note(&pattern, at, 64 * KIB);
        if (guesses.count == 0) continue;
        assert_int_equal(guesses.count, 1);
        assert_true(guesses.ranges[0].offset >= asked_until);  // none twice
        asked_until = guesses.ranges[0].offset + guesses.ranges[0].size;
        assert_true(asked_until <= at + 64 * KIB + 8 * MIB && asked_until <= 100 * MIB);
    }
    assert_int_equal(asked_until, 100 * MIB);
}

static void what_is_expected_is_asked_for_at_once_and_no_further(void **state) {
    (void)state;
    struct access_pattern pattern = access_pattern_of(100 * MIB, 8 * MIB);
    access_pattern_expect(&pattern, 10 * MIB, 3 * MIB);
    struct access_guesses before = access_pattern_note(&pattern, 0, 100);
    assert_int_equal(before.count, 0);
    struct access_guesses guesses = access_pattern_note(&pattern, 10 * MIB, 16 * KIB);
    assert_int_equal(guesses.count, 1);
    assert_int_equal(guesses.ranges[0].offset, 10 * MIB + 16 * KIB);
    assert_int_equal(guesses.ranges[0].offset + guesses.ranges[0].size, 13 * MIB);
}

static void a_single_large_read_goes_nowhere(void **state) {
    (void)state;
    struct access_pattern pattern = access_pattern_of(100 * MIB, 8 * MIB);
    struct access_guesses guesses = access_pattern_note(&pattern, 0, 100);
    guesses = access_pattern_note(&pattern, 50 * MIB, 900 * KIB);
    assert_false(covers(&guesses, 51 * MIB));
    assert_true(guessed_bytes(&guesses) <= (uint64_t)2 * PATTERN_SLACK_BYTES);
}

// Heads of planes that grow a little: all but the first two are guessed before they are read.
static void heads_at_even_strides_are_guessed(void **state) {
    (void)state;
    struct access_pattern pattern = access_pattern_of(400 * MIB, 8 * MIB);
    bool is_guessed[12] = {false};
    uint64_t heads[12] = {0}, bytes = 0;
    for (int i = 1; i < 12; i++) heads[i] = heads[i - 1] + 30000000 + 1234 * (uint64_t)i;
    for (int i = 0; i < 12; i++) {
        struct access_guesses guesses = access_pattern_note(&pattern, heads[i], 4 * KIB);
        for (int k = 0; k < 12; k++)
            is_guessed[k] |= covers(&guesses, heads[k]) && covers(&guesses, heads[k] + 4 * KIB);
        bytes += guessed_bytes(&guesses);
    }
    for (int i = 2; i < 12; i++) assert_true(is_guessed[i]);
    assert_true(bytes <= (uint64_t)12 * 2 * PATTERN_SLACK_BYTES);
}

static void uneven_strides_end_the_guessing(void **state) {
    (void)state;
    struct access_pattern pattern = access_pattern_of(4000 * MIB, 8 * MIB);
    uint64_t at = 0;
    size_t guesses = 0;
    for (uint64_t i = 0; i < 60; i++) {
        guesses += access_pattern_note(&pattern, at, 4 * KIB).count;
        at += (i / 2 % 2 ? 10 : 40) * MIB;  // two are alike, the next ones are not
    }
    assert_true(guesses <= 6);
}

static void nothing_is_guessed_past_the_end(void **state) {
    (void)state;
    struct access_pattern pattern = access_pattern_of(25 * MIB, 8 * MIB);
    for (uint64_t at = 0; at < 25 * MIB; at += 10 * MIB) {
        struct access_guesses guesses = access_pattern_note(&pattern, at, 4 * KIB);
        for (size_t i = 0; i < guesses.count; i++)
            assert_true(guesses.ranges[i].offset + guesses.ranges[i].size <= 25 * MIB);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_goes_on_is_read_ahead_of),
        cmocka_unit_test(what_is_expected_is_asked_for_at_once_and_no_further),
        cmocka_unit_test(a_single_large_read_goes_nowhere),
        cmocka_unit_test(heads_at_even_strides_are_guessed),
        cmocka_unit_test(uneven_strides_end_the_guessing),
        cmocka_unit_test(nothing_is_guessed_past_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
