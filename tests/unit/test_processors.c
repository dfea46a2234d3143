// analysis/base/processors: what taskset keeps back is not counted.
#define _GNU_SOURCE  // sched_setaffinity
#include "analysis/base/processors.h"

#include <sched.h>

#include "tests/unit/cmocka_all.h"

static void one_that_was_left_is_one(void **state) {
    (void)state;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    size_t first = 0;
    while (!CPU_ISSET(first, &before)) first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    unsigned count = processors_usable(64);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(count, 1);
}

static void no_more_than_asked_for(void **state) {
    (void)state;
    assert_int_equal(processors_usable(1), 1);
    assert_in_range(processors_usable(4), 1, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_was_left_is_one),
        cmocka_unit_test(no_more_than_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
