#include "analysis/advice/advise_together.h"

#include "analysis/advice/advice_sets.h"
#include "analysis/advice/advise.h"
#include "tests/unit/fixture_programs.h"

struct fixture {
    struct arena arena;
    struct advice advice;
    struct error error;
};

static void visit(const struct input_file *file, const struct xspace_program *program, struct byte_source *source,
                  void (*check)(const struct advice *)) {
    struct fixture f = {0};
    struct hlo_module module;
    struct advice_request request = {0};
    arena_init(&f.arena, 0);
    assert_true(program_load(file, program, source, &f.arena, &module, &f.error));
    if (!advice_make(&module, &request, &f.arena, &f.advice, &f.error)) fail_msg("%s", f.error.message);
    check(&f.advice);
    arena_free(&f.arena);
}

// --- Bounds ---

static void check_bounds(const struct advice *advice) {
    for (size_t i = 0; i < advice->together_count; i++) {
        const struct advice_together *together = &advice->together[i];
        int64_t touched = 0, added = 0;
        for (int id = 0; id < ADVICE_ID_COUNT; id++) {
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
static void check_donation(const struct advice *advice) {
    int64_t saved = advice->items[ADVICE_DONATE_INPUTS].saves_bytes;
    assert_true(saved > 0);
    expect_about(advice_set_total(advice, DONATE | HALVE), advice_set_total(advice, HALVE) - saved);
    expect_about(advice_set_total(advice, DONATE | PARTS), advice_set_total(advice, PARTS) - saved);
    expect_about(advice_set_total(advice, DONATE | NARROW), advice_set_total(advice, NARROW) - saved / 2);
}

static void visit_sets(const struct input_file *file, const struct xspace_program *program, struct byte_source *source,
                       void *context) {
    ++*(int *)context;
    visit(file, program, source, check_sets);
}

static void visit_donation(const struct input_file *file, const struct xspace_program *program,
                           struct byte_source *source, void *context) {
    if (!strstr(file->path, "/dense.")) return;
    ++*(int *)context;
    visit(file, program, source, check_donation);
}

static void every_pair_is_joined_and_inside_what_its_changes_touch(void **state) {
    (void)state;
    int seen = 0;
    pairs = 0;
    fixture_programs_visit("tests/fixtures/advice", visit_sets, &seen);
    assert_true(seen > 30);
    assert_true(pairs > 10 * 5);
}

static void a_donation_saves_what_the_other_change_leaves_of_the_inputs(void **state) {
    (void)state;
    int seen = 0;
    fixture_programs_visit("tests/fixtures/advice", visit_donation, &seen);
    assert_int_equal(seen, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_is_joined_and_inside_what_its_changes_touch),
        cmocka_unit_test(a_donation_saves_what_the_other_change_leaves_of_the_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
