#include "analysis/profile/events/free_matching.h"

#include "analysis/profile/events/memory_columns.h"
#include "tests/unit/cmocka_all.h"

enum { ALLOCATION = 0, FREE = MEMORY_EVENT_IS_FREE, NONE = -1 };

struct event {
    uint64_t address;
    uint8_t flags;
    int partner;  // the row that is expected
};

static void check(const struct event *events, uint32_t count, uint32_t expected_reused) {
    uint64_t address[8];
    uint8_t flags[8];
    uint32_t partner[8], reused;
    for (uint32_t i = 0; i < count; i++) address[i] = events[i].address, flags[i] = events[i].flags;
    assert_true(free_matching_find(address, flags, count, partner, &reused));
    for (uint32_t i = 0; i < count; i++) assert_int_equal(partner[i], (uint32_t)events[i].partner);
    assert_int_equal(reused, expected_reused);
}

static void a_free_belongs_to_the_latest_allocation_of_its_address(void **state) {
    (void)state;
    static const struct event events[] = {
        {16, ALLOCATION, 2}, {32, ALLOCATION, NONE}, {16, FREE, 0}, {16, ALLOCATION, 4}, {16, FREE, 3}};
    check(events, 5, 0);
}

static void what_was_freed_cannot_be_freed_again(void **state) {
    (void)state;
    static const struct event events[] = {{16, ALLOCATION, 1}, {16, FREE, 0}, {16, FREE, NONE}};
    check(events, 3, 0);
}

static void an_address_taken_without_a_free_counts_as_reused(void **state) {
    (void)state;
    static const struct event events[] = {{16, ALLOCATION, NONE}, {16, ALLOCATION, 2}, {16, FREE, 1}};
    check(events, 3, 1);
}

static void a_free_of_the_unknown_has_no_partner(void **state) {
    (void)state;
    static const struct event events[] = {{0, FREE, NONE}, {UINT64_MAX, FREE, NONE}, {UINT64_MAX, ALLOCATION, NONE}};
    check(events, 3, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_belongs_to_the_latest_allocation_of_its_address),
        cmocka_unit_test(what_was_freed_cannot_be_freed_again),
        cmocka_unit_test(an_address_taken_without_a_free_counts_as_reused),
        cmocka_unit_test(a_free_of_the_unknown_has_no_partner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
