// Which memory of a pod fills otherwise than the others, and by what.
#include "analysis/across/peak_differences.h"

#include "tests/unit/cmocka_all.h"

enum { GIB = 1 << 30 };

static struct peak_holder holder(const char *name, int64_t bytes, int64_t step) {
    return (struct peak_holder){bytes_of(name), bytes, step};
}

static struct memory_peak peak(const char *memory_id, int64_t bytes, struct peak_holder *holders, uint32_t count) {
    struct memory_peak made = {.memory_id = bytes_of(memory_id),
                               .is_told = true,
                               .bytes = bytes,
                               .step = 1,
                               .unexplained_bytes = bytes,
                               .holders = holders,
                               .holder_count = count};
    for (uint32_t i = 0; i < count; i++) made.unexplained_bytes -= holders[i].bytes;
    memory_peak_settle(&made);
    return made;
}

static struct peak_differences find(struct memory_peak *peaks, size_t count, struct arena *arena) {
    struct memory_peaks *files = arena_new(arena, struct memory_peaks, count);
    const struct memory_peaks **known = arena_new(arena, const struct memory_peaks *, count);
    struct peak_differences d;
    struct error error;
    for (size_t i = 0; i < count; i++) {
        files[i] = (struct memory_peaks){.peaks = &peaks[i], .count = 1};
        known[i] = &files[i];
    }
    assert_true(peak_differences_find(known, count, arena, &d, &error));
    return d;
}

static bool is_text(struct bytes bytes, const char *text) {
    return bytes_equal(bytes, bytes_of(text));
}

static void who_has_more_and_what_holds_it(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    struct peak_holder usual[] = {holder("Relu", GIB, 1), holder("MatMul", 2048, 1)};
    struct peak_holder more[] = {holder("Relu", GIB, 1), holder("Leak", 2 * (int64_t)GIB, 3), holder("Leak", 5, 2)};
    struct memory_peak peaks[] = {peak("0", 3 * (int64_t)GIB, usual, 2), peak("1", 3 * (int64_t)GIB, usual, 2),
                                  peak("2", 5 * (int64_t)GIB, more, 3)};
    struct peak_differences d = find(peaks, 3, &arena);
    assert_int_equal(d.kind_count, 1);
    assert_true(is_text(d.kinds[0].name, "*"));
    assert_int_equal(d.kinds[0].median, 0);
    assert_int_equal(d.kinds[0].lowest, 0);
    assert_int_equal(d.kinds[0].highest, 2);
    assert_int_equal(d.kinds[0].differing, 1);
    assert_int_equal(d.differing_count, 1);
    const struct peak_row *row = &d.rows[d.differing[0]];
    assert_int_equal(row->file, 2);
    assert_int_equal(row->more_bytes, 2 * (int64_t)GIB);
    assert_true(row->by.is_known);
    assert_false(row->by.is_unexplained);
    assert_true(is_text(row->by.holder, "Leak"));
    assert_int_equal(row->by.bytes, 2 * (int64_t)GIB + 5);
    assert_int_equal(row->by.median_bytes, 0);
    assert_int_equal(row->by.first_step, 2);
    arena_free(&arena);
}

static void who_has_less_lacks_what_the_median_holds(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    struct peak_holder usual[] = {holder("A", GIB, 7), holder("B", GIB, 1)}, less[] = {holder("B", GIB, 1)};
    struct memory_peak peaks[] = {peak("gpu", GIB, less, 1), peak("gpu", 2 * (int64_t)GIB, usual, 2),
                                  peak("gpu", 2 * (int64_t)GIB, usual, 2)};
    struct peak_differences d = find(peaks, 3, &arena);
    assert_int_equal(d.kinds[0].median, 1);
    assert_int_equal(d.kinds[0].lowest, 0);
    assert_int_equal(d.kinds[0].highest, 1);
    assert_int_equal(d.differing_count, 1);
    const struct peak_row *row = &d.rows[0];
    assert_true(row->differs);
    assert_int_equal(row->more_bytes, -GIB);
    assert_true(is_text(row->by.holder, "A"));
    assert_int_equal(row->by.bytes, 0);
    assert_int_equal(row->by.median_bytes, GIB);
    assert_int_equal(row->by.first_step, 7);
    arena_free(&arena);
}

static void what_no_event_explains_is_a_cause_too(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    struct memory_peak peaks[] = {peak("gpu", GIB, NULL, 0), peak("gpu", GIB, NULL, 0),
                                  peak("gpu", 3 * (int64_t)GIB, NULL, 0)};
    struct peak_differences d = find(peaks, 3, &arena);
    assert_true(d.rows[2].by.is_unexplained);
    assert_int_equal(d.rows[2].by.bytes, 3 * (int64_t)GIB);
    assert_int_equal(d.rows[2].by.median_bytes, GIB);
    arena_free(&arena);
}

static void a_hundredth_and_a_page_are_alike(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    struct memory_peak small[] = {peak("a", 100, NULL, 0),     peak("a", 100 + 4096, NULL, 0),
                                  peak("b", 1000000, NULL, 0), peak("b", 1010000, NULL, 0),
                                  peak("c", 1000000, NULL, 0), peak("c", 1010001, NULL, 0)};
    struct peak_differences d = find(small, 6, &arena);
    assert_int_equal(d.kind_count, 3);
    assert_int_equal(d.differing_count, 1);
    assert_int_equal(d.differing[0], 5);
    arena_free(&arena);
}

static void the_largest_difference_comes_first(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    struct memory_peak peaks[] = {peak("TPU_0(process=0)", 2 * (int64_t)GIB, NULL, 0),
                                  peak("TPU_1(process=0)", GIB, NULL, 0), peak("TPU_12(process=3)", GIB, NULL, 0),
                                  peak("TPU_3(process=3)", 10, NULL, 0),
                                  peak("TPU_4(process=3)", 3 * (int64_t)GIB, NULL, 0)};
    struct peak_differences d = find(peaks, 5, &arena);
    assert_int_equal(d.kind_count, 1);
    assert_true(is_text(d.kinds[0].name, "TPU_*(process=*)"));
    assert_int_equal(d.differing_count, 3);
    assert_int_equal(d.differing[0], 4);
    assert_int_equal(d.differing[1], 0);
    assert_int_equal(d.differing[2], 3);
    arena_free(&arena);
}

static void files_that_are_not_there_yet_have_no_rows(void **state) {
    (void)state;
    struct arena arena;
    struct peak_differences d;
    struct error error;
    const struct memory_peaks *files[] = {NULL, NULL};
    arena_init(&arena, 0);
    assert_true(peak_differences_find(files, 2, &arena, &d, &error));
    assert_int_equal(d.row_count + d.kind_count + d.differing_count, 0);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_has_more_and_what_holds_it),
        cmocka_unit_test(who_has_less_lacks_what_the_median_holds),
        cmocka_unit_test(what_no_event_explains_is_a_cause_too),
        cmocka_unit_test(a_hundredth_and_a_page_are_alike),
        cmocka_unit_test(the_largest_difference_comes_first),
        cmocka_unit_test(files_that_are_not_there_yet_have_no_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
