// Sentences of an advice where there is no memory to put them together: empty, not NULL.
#include "server/document/advice_document.h"

#include <string.h>

#include "tests/unit/cmocka_all.h"

static struct advice advice_that_does_not_fit(void) {
    struct advice advice = {.capacity_bytes = 1 << 20, .least_ways = 2, .least_ways_bytes = 1 << 19};
    advice.nearest = (struct advice_plan){.count = 1, .ways = 2, .predicted_total_bytes = 1 << 21};
    advice.items[ADVICE_SHARD_ALL].ways = 4;
    return advice;
}

static void sentences_are_put_together(void **state) {
    (void)state;
    struct arena arena;
    struct advice advice = advice_that_does_not_fit();
    arena_init(&arena, 0);
    assert_non_null(strstr(advice_nearest_text(&advice, &arena), "It is 1.00 MiB too much"));
    assert_non_null(strstr(advice_ways_text(&advice, &arena), "at least 2 of them"));
    arena_free(&arena);
}

static void without_memory_they_are_empty(void **state) {
    (void)state;
    struct arena arena;
    struct advice advice = advice_that_does_not_fit();
    arena_init(&arena, 1);
    assert_string_equal(advice_nearest_text(&advice, &arena), "");
    assert_string_equal(advice_ways_text(&advice, &arena), "");
    assert_string_equal(advice_plan_text(&advice.nearest, advice.capacity_bytes, &arena), "");
    assert_string_equal(advice_total_text(1, 0, 2, 3, &arena), "");
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_are_put_together),
        cmocka_unit_test(without_memory_they_are_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
