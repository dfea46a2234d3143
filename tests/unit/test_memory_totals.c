#include "analysis/memory/memory_totals.h"

#include "tests/unit/cmocka_all.h"
#include "tests/unit/hlo_build.h"

struct fixture {
    struct hlo_build build;
    struct arena arena;
    struct hlo_module module;
    struct memory_totals_list list;
    struct error error;
};

static bool sum(struct fixture *f) {
    arena_init(&f->arena, 0);
    assert_true(hlo_module_load(hlo_build_finish(&f->build), &f->arena, &f->module, &f->error));
    return memory_totals_list(&f->module, &f->arena, &f->list, &f->error);
}

static void done(struct fixture *f) {
    arena_free(&f->arena);
    hlo_build_free(&f->build);
}

static void every_allocation_is_in_one_category(void **state) {
    (void)state;
    struct fixture f = {0};
    struct hlo_build *b = &f.build;
    hlo_build_allocation(b, (struct hlo_build_allocation){.size = 1, .is_parameter = true});
    hlo_build_allocation(b, (struct hlo_build_allocation){.size = 2, .is_parameter = true, .is_live_out = true});
    hlo_build_allocation(b, (struct hlo_build_allocation){.size = 4, .is_live_out = true});
    hlo_build_allocation(b, (struct hlo_build_allocation){.size = 8, .is_constant = true});
    hlo_build_allocation(b, (struct hlo_build_allocation){.size = 16});
    hlo_build_allocation(b, (struct hlo_build_allocation){.size = 32, .is_thread_local = true, .is_parameter = true});
    hlo_build_allocation(b, (struct hlo_build_allocation){.size = 64, .is_constant = true, .is_live_out = true});
    assert_true(sum(&f));
    struct memory_totals totals = memory_totals_of(&f.list, 0);
    static const int64_t expected[] = {1, 2, 4 + 64, 8, 16, 32};
    for (int i = 0; i < ALLOCATION_CATEGORY_COUNT; i++) assert_int_equal(totals.bytes[i], expected[i]);
    assert_int_equal(totals.total_bytes, 95);
    assert_int_equal(totals.indefinite_bytes, 79);
    assert_int_equal(totals.allocation_count, 7);
    done(&f);
}

static void memory_spaces_are_apart_and_in_order(void **state) {
    (void)state;
    struct fixture f = {0};
    hlo_build_allocation(&f.build, (struct hlo_build_allocation){.size = 5, .color = 6});
    hlo_build_allocation(&f.build, (struct hlo_build_allocation){.size = 7, .color = 0});
    hlo_build_allocation(&f.build, (struct hlo_build_allocation){.size = 9, .color = 6});
    hlo_build_allocation(&f.build, (struct hlo_build_allocation){.size = 3, .color = -2});
    assert_true(sum(&f));
    assert_int_equal(f.list.space_count, 3);
    assert_int_equal(f.list.spaces[0].space, -2);
    assert_int_equal(f.list.spaces[1].space, 0);
    assert_int_equal(f.list.spaces[2].total_bytes, 14);
    assert_int_equal(memory_totals_of(&f.list, 4).total_bytes, 0);
    done(&f);
}

static void sums_past_int64_are_refused(void **state) {
    (void)state;
    struct fixture f = {0};
    hlo_build_allocation(&f.build, (struct hlo_build_allocation){.size = INT64_MAX, .is_constant = true});
    hlo_build_allocation(&f.build, (struct hlo_build_allocation){.size = 1});
    assert_false(sum(&f));
    assert_int_equal(f.error.code, ERROR_MALFORMED);
    done(&f);
}

static void memory_spaces_have_xprofs_names(void **state) {
    (void)state;
    char text[MEMORY_SPACE_NAME_BYTES];
    assert_string_equal(memory_space_name(0, text), "HBM");
    assert_string_equal(memory_space_name(1, text), "VMEM");
    assert_string_equal(memory_space_name(5, text), "Host");
    assert_string_equal(memory_space_name(12, text), "Memory space 12");
    assert_string_equal(memory_space_name(INT64_MIN, text), "Memory space -9223372036854775808");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_is_in_one_category),
        cmocka_unit_test(memory_spaces_are_apart_and_in_order),
        cmocka_unit_test(sums_past_int64_are_refused),
        cmocka_unit_test(memory_spaces_have_xprofs_names),
    };
    return cmocka_run_group_tests_name("memory_totals", tests, NULL, NULL);
}
