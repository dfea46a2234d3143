// What devices have, by the names that people and profilers give them.
#include "analysis/base/device_kinds.h"

#include <string.h>

#include "tests/unit/cmocka_all.h"

static void check_capacity(const char *text, const char *capacity) {
    const struct device_kind *kind = device_kind_named(text);
    const char *found = kind ? kind->capacity : "";
    if (strcmp(found, capacity) != 0) fail_msg("\"%s\" has \"%s\", not \"%s\"", text, found, capacity);
}

static void a_device_is_found_by_what_people_call_it(void **state) {
    (void)state;
    check_capacity("v5e", "15.75GiB");
    check_capacity("TPU V5e", "15.75GiB");
    check_capacity("TPU v5 lite", "15.75GiB");
    check_capacity("tpu-v7x", "94.74GiB");
    check_capacity("TPU7x", "94.74GiB");
    check_capacity("A100-80GB", "80GiB");
    check_capacity("NVIDIA A100_80 gb", "80GiB");
    check_capacity("Tesla T4", "16GiB");
    check_capacity("h2", "141GiB");
}

static void what_is_no_device_or_several_is_refused(void **state) {
    (void)state;
    static const char *const no_devices[] = {
        "",     " ",      "TPU",      "v5",     "A100",
        "V100", "Cray-1", "15.75GiB", "nvidia", "a name that is longer than any device has ever had"};
    for (size_t i = 0; i < sizeof no_devices / sizeof no_devices[0]; i++) check_capacity(no_devices[i], "");
}

static void a_profile_calls_the_v5p_what_a_person_may_not(void **state) {
    (void)state;
    assert_string_equal(device_kind_of_profile("TPU v5")->name, "TPU v5p");
    assert_string_equal(device_kind_of_profile("TPU v5 Lite")->name, "TPU v5e");
    assert_string_equal(device_kind_of_profile("TPU v4")->name, "TPU v4");
    assert_null(device_kind_of_profile("TPU"));
    assert_null(device_kind_of_profile(""));
}

static void every_device_finds_itself_and_has_a_size(void **state) {
    (void)state;
    for (size_t i = 0; i < device_kind_count; i++) {
        assert_ptr_equal(device_kind_named(device_kinds[i].name), &device_kinds[i]);
        assert_true(device_kind_bytes(&device_kinds[i]) > (int64_t)1 << 30);
        double part = device_kinds[i].is_of_compiler ? 1 : 0.75;
        assert_true((double)device_kind_usable_bytes(&device_kinds[i]) ==
                    part * (double)device_kind_bytes(&device_kinds[i]));
    }
}

static void a_capacity_is_a_size_or_a_device(void **state) {
    (void)state;
    int64_t bytes = 0;
    assert_true(device_capacity_read("16GiB", &bytes) && bytes == (int64_t)16 << 30);
    assert_true(device_capacity_read("H100", &bytes) && bytes == (int64_t)80 << 30);
    assert_false(device_capacity_read("much", &bytes));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_is_found_by_what_people_call_it),
        cmocka_unit_test(what_is_no_device_or_several_is_refused),
        cmocka_unit_test(a_profile_calls_the_v5p_what_a_person_may_not),
        cmocka_unit_test(every_device_finds_itself_and_has_a_size),
        cmocka_unit_test(a_capacity_is_a_size_or_a_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
