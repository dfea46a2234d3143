// The fixes of a diagnosis with the advice's figures: what is offered, in which order, and what is ruled out.
#include "analysis/oom/oom_advised.h"

#include <string.h>

#include "tests/unit/cmocka_all.h"

static struct arena arena;

// Everything as it is: 100 000 bytes, and no change applies.
static struct advice start(void) {
    struct advice advice = {.total_bytes = 100000, .is_training = true};
    for (int id = 0; id < ADVICE_ID_COUNT; id++) {
        advice.items[id] = (struct advice_item){
            .id = (enum advice_id)id, .predicted_total_bytes = 100000, .evidence = {"because"}, .evidence_count = 1};
    }
    return advice;
}

static void offer(struct advice *advice, enum advice_id id, int64_t saves_bytes) {
    advice->items[id].applies = true;
    advice->items[id].saves_bytes = saves_bytes;
}

static void suggest(struct oom_diagnosis *diagnosis, const char *id) {
    diagnosis->fixes[diagnosis->fix_count++] = (struct oom_fix){.change = *change_find(bytes_of(id))};
}

static const char *why_not(const struct oom_diagnosis *diagnosis, const char *id) {
    for (size_t i = 0; i < diagnosis->excluded_count; i++) {
        if (strcmp(diagnosis->excluded[i].change.id, id) == 0) return diagnosis->excluded[i].why;
    }
    return NULL;
}

static void fixes_are_the_advices_and_then_what_nothing_predicts(void **state) {
    (void)state;
    struct advice advice = start();
    struct oom_diagnosis diagnosis = {0};
    offer(&advice, ADVICE_HALVE_BATCH, 2000);
    offer(&advice, ADVICE_SHARD_ALL, 70000);
    suggest(&diagnosis, "split_computation");
    suggest(&diagnosis, "donate_inputs");
    suggest(&diagnosis, "halve_batch");
    suggest(&diagnosis, "more_chips");
    oom_fixes_advise(&diagnosis, &advice, &arena);
    static const char *const ids[] = {"shard_all", "halve_batch", "split_computation", "more_chips"};
    assert_int_equal(diagnosis.fix_count, 4);
    for (size_t i = 0; i < 4; i++) assert_string_equal(diagnosis.fixes[i].change.id, ids[i]);
    assert_ptr_equal(diagnosis.fixes[0].prediction, &advice.items[ADVICE_SHARD_ALL]);
    assert_null(diagnosis.fixes[2].prediction);
    assert_string_equal(why_not(&diagnosis, "donate_inputs"), "because");
}

static void the_line_of_code_is_that_for_the_program(void **state) {
    (void)state;
    struct advice advice = start();
    struct oom_diagnosis diagnosis = {0};
    offer(&advice, ADVICE_DONATE_INPUTS, 2000);
    advice.items[ADVICE_DONATE_INPUTS].code = "jax.jit(step, donate_argnums=(2,))  # caches";
    oom_fixes_advise(&diagnosis, &advice, &arena);
    assert_string_equal(diagnosis.fixes[0].change.how, advice.items[ADVICE_DONATE_INPUTS].code);
}

static void what_saves_next_to_nothing_or_costs_is_not_offered(void **state) {
    (void)state;
    struct advice advice = start();
    struct oom_diagnosis diagnosis = {0};
    offer(&advice, ADVICE_DONATE_INPUTS, 99);
    offer(&advice, ADVICE_SHARD_PARAMETERS, 100);
    offer(&advice, ADVICE_SHARD_ALL, -2048);
    offer(&advice, ADVICE_HALVE_BATCH, 0);
    oom_fixes_advise(&diagnosis, &advice, &arena);
    assert_int_equal(diagnosis.fix_count, 1);
    assert_string_equal(diagnosis.fixes[0].change.id, "shard_parameters");
    assert_string_equal(why_not(&diagnosis, "donate_inputs"), "It would save 99 B.");
    assert_string_equal(why_not(&diagnosis, "shard_all"), "It would cost 2.00 KiB.");
    assert_string_equal(why_not(&diagnosis, "halve_batch"), "It would save nothing.");
    assert_int_equal(diagnosis.excluded_count, ADVICE_ID_COUNT - 1);
}

static void a_program_at_hand_that_trains_nothing_rules_out_more(void **state) {
    (void)state;
    struct advice advice = start();
    struct oom_diagnosis diagnosis = {0};
    advice.is_training = false;
    suggest(&diagnosis, "micro_batch");
    suggest(&diagnosis, "profile");
    suggest(&diagnosis, "xla_flags");
    oom_fixes_advise(&diagnosis, &advice, &arena);
    assert_int_equal(diagnosis.fix_count, 1);
    assert_string_equal(diagnosis.fixes[0].change.id, "xla_flags");
    assert_non_null(why_not(&diagnosis, "micro_batch"));
    assert_non_null(why_not(&diagnosis, "profile"));
}

static void what_cannot_be_told_is_suggested_without_a_figure_or_ruled_out(void **state) {
    (void)state;
    struct advice advice = start();
    struct oom_diagnosis diagnosis = {0};
    advice.items[ADVICE_REMATERIALIZE].cannot_tell = advice.items[ADVICE_HALVE_BATCH].cannot_tell = true;
    suggest(&diagnosis, "rematerialize");
    oom_fixes_advise(&diagnosis, &advice, &arena);
    assert_int_equal(diagnosis.fix_count, 1);
    assert_string_equal(diagnosis.fixes[0].change.id, "rematerialize");
    assert_null(diagnosis.fixes[0].prediction);
    assert_null(why_not(&diagnosis, "rematerialize"));
    assert_string_equal(why_not(&diagnosis, "halve_batch"), "because");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixes_are_the_advices_and_then_what_nothing_predicts),
        cmocka_unit_test(the_line_of_code_is_that_for_the_program),
        cmocka_unit_test(what_saves_next_to_nothing_or_costs_is_not_offered),
        cmocka_unit_test(what_cannot_be_told_is_suggested_without_a_figure_or_ruled_out),
        cmocka_unit_test(a_program_at_hand_that_trains_nothing_rules_out_more),
    };
    arena_init(&arena, 1 << 20);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
