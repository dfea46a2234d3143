// What is promised of the advice about every program of the fixtures: it is made once, and each test looks at it.
#include "analysis/advice/advise.h"

#include <stdio.h>

#include "analysis/advice/advice_sets.h"
#include "analysis/advice/advise_together.h"
#include "tests/unit/fixture_programs.h"

enum { PROGRAMS_MAX = 200 };

// One program's, whose texts are on `arena`.
struct fixture {
    char path[4096];
    struct arena arena;
    struct advice advice;
};

static struct {
    struct fixture each[PROGRAMS_MAX];
    size_t count;
} made;

static void make(const struct input_file *file, const struct xspace_program *program, struct byte_source *source,
                 void *context) {
    (void)context;
    struct hlo_module module;
    struct error error = {0};
    struct advice_request request = {0};
    assert_true(made.count < PROGRAMS_MAX);
    struct fixture *f = &made.each[made.count++];
    snprintf(f->path, sizeof f->path, "%s", file->path);
    arena_init(&f->arena, 0);
    assert_true(program_load(file, program, source, &f->arena, &module, &error));
    if (!advice_make(&module, &request, &f->arena, &f->advice, &error)) fail_msg("%s", error.message);
}

static int make_all(void **state) {
    (void)state;
    fixture_programs_visit("tests/fixtures/advice", make, NULL);
    assert_true(made.count > 30);
    return 0;
}

static int free_all(void **state) {
    (void)state;
    for (size_t i = 0; i < made.count; i++) arena_free(&made.each[i].arena);
    return 0;
}

// That of the one program in FIXTURES/NAME.
static const struct advice *advice_of(const char *name) {
    char part[64];
    const struct advice *found = NULL;
    snprintf(part, sizeof part, "/%s.", name);
    for (size_t i = 0; i < made.count; i++) {
        if (!strstr(made.each[i].path, part)) continue;
        assert_null(found);
        found = &made.each[i].advice;
    }
    assert_non_null(found);
    return found;
}

// --- What moves arguments ---

static void check_moved(const struct fixture *f, const struct advice_item *item) {
    int64_t least = f->advice.total_bytes - item->touched_bytes - item->touched_bytes / 3;
    bool is_squeezed = strstr(item->evidence[item->evidence_count - 1], "has squeezed this program");
    if (item->low_bytes < least && !is_squeezed)
        fail_msg("%s: %lld below %lld", f->path, (long long)item->low_bytes, (long long)least);
}

// However large the program is around them; squeezed ones have ranges of their own.
static void little_is_saved_beyond_what_moves(void **state) {
    (void)state;
    for (size_t i = 0; i < made.count; i++) {
        const struct advice_item *donated = &made.each[i].advice.items[ADVICE_DONATE_INPUTS];
        const struct advice_item *offloaded = &made.each[i].advice.items[ADVICE_HOST_OFFLOAD_OPTIMIZER];
        if (donated->applies) check_moved(&made.each[i], donated);
        if (!offloaded->applies) continue;
        check_moved(&made.each[i], offloaded);
        int64_t total = made.each[i].advice.total_bytes;
        assert_true(offloaded->high_bytes <= total + (made.each[i].advice.is_for_tpu ? total / 2 : 0));
    }
}

// --- Weights in int8 ---

static bool is_said(const struct advice_item *item, const char *words) {
    for (size_t i = 0; i < item->evidence_count; i++) {
        if (strstr(item->evidence[i], words)) return true;
    }
    return false;
}

// And of these not what has them already.
static void only_programs_that_train_nothing_have_int8_weights(void **state) {
    (void)state;
    for (size_t i = 0; i < made.count; i++) {
        const struct advice *advice = &made.each[i].advice;
        const struct advice_item *item = &advice->items[ADVICE_INT8_WEIGHTS];
        bool are_there = is_said(item, "less than a thousandth of the total");
        assert_true(item->applies == (!advice->is_training && !are_there));
    }
}

// Eight weights of 417.84 MiB in float32, to a quarter and a little padding; the caches stay.
static void int8_weights_need_no_copies_and_caches_stay(void **state) {
    (void)state;
    const struct advice_item *item = &advice_of("caches_scanned")->items[ADVICE_INT8_WEIGHTS];
    const int64_t compiled_bytes = 1385358336, off_bytes = compiled_bytes / 10;
    assert_true(item->applies && item->changes_numerics);
    assert_true(item->predicted_total_bytes > compiled_bytes - off_bytes &&
                item->predicted_total_bytes < compiled_bytes + off_bytes);
    assert_true(item->low_bytes <= compiled_bytes && compiled_bytes <= item->high_bytes);
}

// --- Micro-batches ---

static void parts_of_a_batch_add_sums_of_gradients(void **state) {
    (void)state;
    const struct advice *advice = advice_of("experts");
    const struct advice_item *item = &advice->items[ADVICE_MICRO_BATCH];
    assert_true(item->applies && item->parts == 4 && item->added_bytes > 0 && !item->changes_numerics);
    assert_int_equal(item->predicted_indefinite_bytes, advice->indefinite_bytes);  // the whole batch is given still
    assert_true(is_said(item, " in 2, ") && is_said(item, " in 16"));
}

// For plans: as the change itself, but for the parts, and what they leave.
static void more_parts_leave_less_under_the_same_name(void **state) {
    (void)state;
    const struct advice_item *items = advice_of("experts")->items;
    const struct advice_item *usual = &items[ADVICE_MICRO_BATCH], *twice = &items[ADVICE_MICRO_BATCH_TWICE];
    const struct advice_item *most = &items[ADVICE_MICRO_BATCH_FOUR_TIMES];
    assert_true(twice->applies && twice->parts == 8 && most->applies && most->parts == 16);
    assert_true(usual->saves_bytes < twice->saves_bytes && twice->saves_bytes < most->saves_bytes);
    assert_string_equal(advice_id_name(twice->id), advice_id_name(usual->id));
    assert_string_equal(usual->name, "accumulate gradients over 4 micro-batches");
    assert_string_equal(most->name, "accumulate gradients over 16 micro-batches");
    assert_non_null(strstr(twice->code, "batch.reshape(8, -1"));
    assert_false(is_said(twice, "In other numbers of parts"));
}

static void what_trains_nothing_has_no_parts(void **state) {
    (void)state;
    const struct advice_item *item = &advice_of("caches_scanned")->items[ADVICE_MICRO_BATCH];
    assert_true(!item->applies && item->parts == 0);
}

// [8, 4, 512]: four more of each part, but no more sums.
static void gradients_are_summed_over_parts_once(void **state) {
    (void)state;
    const struct advice *advice = advice_of("accumulated");
    const struct advice_item *item = &advice->items[ADVICE_MICRO_BATCH];
    assert_true(item->applies && item->parts == 4 && advice->batch == 4);
    assert_int_equal(item->added_bytes, 0);
}

// --- Changes together: bounds ---

static void check_bounds(const struct advice *advice) {
    for (size_t i = 0; i < advice->together_count; i++) {
        const struct advice_together *together = &advice->together[i];
        int64_t touched = 0, added = 0;
        for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) {
            if (!advice_set_has(together->set, (enum advice_id)id)) continue;
            touched += advice->items[id].touched_bytes;
            added += advice->items[id].added_bytes;
        }
        assert_true(together->predicted_total_bytes >= 0);
        assert_true(advice->total_bytes - together->predicted_total_bytes <= touched);
        assert_true(together->predicted_total_bytes - advice->total_bytes <= added);
    }
}

static unsigned pairs;  // that were asked for; of programs about which little can be told they are few

static void check_sets(const struct advice *advice) {
    check_bounds(advice);
    for (unsigned set = 1; set <= ADVICE_ALL; set++) {
        if (!advice_set_is_sensible(advice, set)) continue;
        bool is_pair = __builtin_popcount(set) == 2;
        if (is_pair) assert_true(advice_set_total(advice, set) < INT64_MAX);
        pairs += is_pair;
    }
}

static void every_pair_is_joined_and_inside_what_its_changes_touch(void **state) {
    (void)state;
    pairs = 0;
    for (size_t i = 0; i < made.count; i++) check_sets(&made.each[i].advice);
    assert_true(pairs > 10 * 5);
}

// --- One after the other ---

enum {
    DONATE = 1u << ADVICE_DONATE_INPUTS,
    HALVE = 1u << ADVICE_HALVE_BATCH,
    NARROW = 1u << ADVICE_BF16_PARAMETERS,
    PARTS = 1u << ADVICE_MICRO_BATCH
};

static void expect_about(int64_t value, int64_t expected) {
    int64_t off = value > expected ? value - expected : expected - value;
    if (off * 50 > expected) fail_msg("%lld is not about %lld", (long long)value, (long long)expected);
}

// The state does not follow the batch, so donating it saves the same of half of it; of its bfloat16, half.
static void a_donation_saves_what_the_other_change_leaves_of_the_inputs(void **state) {
    (void)state;
    const struct advice *advice = advice_of("dense");
    int64_t saved = advice->items[ADVICE_DONATE_INPUTS].saves_bytes;
    assert_true(saved > 0);
    expect_about(advice_set_total(advice, DONATE | HALVE), advice_set_total(advice, HALVE) - saved);
    expect_about(advice_set_total(advice, DONATE | PARTS), advice_set_total(advice, PARTS) - saved);
    expect_about(advice_set_total(advice, DONATE | NARROW), advice_set_total(advice, NARROW) - saved / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_is_saved_beyond_what_moves),
        cmocka_unit_test(only_programs_that_train_nothing_have_int8_weights),
        cmocka_unit_test(int8_weights_need_no_copies_and_caches_stay),
        cmocka_unit_test(parts_of_a_batch_add_sums_of_gradients),
        cmocka_unit_test(more_parts_leave_less_under_the_same_name),
        cmocka_unit_test(what_trains_nothing_has_no_parts),
        cmocka_unit_test(gradients_are_summed_over_parts_once),
        cmocka_unit_test(every_pair_is_joined_and_inside_what_its_changes_touch),
        cmocka_unit_test(a_donation_saves_what_the_other_change_leaves_of_the_inputs),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
