#include "analysis/profile/questions/profile_findings.h"

#include "analysis/profile/questions/timeline_silences.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/memory_story.h"

#define SECOND PRESSURE_PICOSECONDS

static struct profile_findings findings_of(struct story *s) {
    const struct memory_profile *profile = &s->build.profile;
    const struct memory_timeline *timeline = &s->build.timeline;
    struct profile_findings findings;
    struct timeline_summary summary;
    struct memory_breakdown breakdown;
    struct step_growth growth;
    struct memory_pressure pressure;
    uint32_t peak = memory_breakdown_peak_row(profile, timeline);
    timeline_summary_make(profile, timeline, &summary);
    assert_true(memory_breakdown_make(profile, timeline, peak, &s->arena, &breakdown, &s->error));
    assert_true(step_growth_make(profile, timeline, &s->arena, &growth, &s->error));
    assert_true(memory_pressure_make(profile, timeline, &s->arena, &pressure, &s->error));
    const struct profile_evidence evidence = {profile, timeline, &summary, &breakdown, &growth, &pressure};
    assert_true(profile_findings_make(&evidence, &s->arena, &findings, &s->error));
    return findings;
}

static const struct profile_finding *find(const struct profile_findings *findings, enum finding_kind kind) {
    for (size_t i = 0; i < findings->count; i++) {
        if (findings->items[i].kind == kind) return &findings->items[i];
    }
    return NULL;
}

static void expect_kinds(const struct profile_findings *findings, const enum finding_kind *kinds, size_t count) {
    assert_int_equal(findings->count, count);
    for (size_t i = 0; i < count; i++) assert_int_equal(findings->items[i].kind, kinds[i]);
}

// 400 of 1000 bytes were asked for once; then 80 are free in one piece of 800, twice for ten seconds.
static void tell_two_stalls(struct story *s, int64_t second_silence_ps) {
    story_begin(s, 100);
    s->capacity_bytes = 1000;
    story_free(s, story_alloc(s, "Big", 400));
    s->step = 3;
    story_alloc(s, "Small", 100);
    s->fragmentation = 0.9;
    story_alloc(s, "Small", 100);
    s->time_ps += 10 * SECOND - 10;
    s->fragmentation = 0.5;
    story_alloc(s, "Small", 100);
    s->fragmentation = 0.8;
    story_alloc(s, "Small", 100);
    s->time_ps += second_silence_ps - 10;
    s->fragmentation = 0;
    story_alloc(s, "Small", 100);
}

static void failed_requests_come_first_with_the_bytes_they_all_passed(void **state) {
    (void)state;
    struct story s;
    tell_two_stalls(&s, 10 * SECOND);
    struct profile_findings findings = findings_of(&s);
    const struct profile_finding *failed = &findings.items[0];
    assert_int_equal(failed->kind, FINDING_FAILED);
    assert_int_equal(failed->count, 2);
    assert_int_equal(failed->bytes, 80);  // a tenth of 800 free, and a fifth of 600 is 120
    assert_true(failed->is_sure);
    assert_int_equal(failed->row, 3);
    assert_int_equal(failed->step, 3);
    assert_int_equal(failed->from_ps, failed->time_ps - SECOND / 2);
    assert_int_equal(failed->to_ps, failed->time_ps + 10 * SECOND + SECOND / 2);
    story_done(&s);
}

static void a_silence_of_another_length_makes_it_unsure(void **state) {
    (void)state;
    struct story s;
    tell_two_stalls(&s, 12 * SECOND);
    struct profile_findings findings = findings_of(&s);
    assert_int_equal(findings.items[0].count, 2);
    assert_false(findings.items[0].is_sure);
    story_done(&s);
}

static void pieces_are_told_where_enough_is_free_in_all(void **state) {
    (void)state;
    struct story s;
    tell_two_stalls(&s, 10 * SECOND);
    struct profile_findings findings = findings_of(&s);
    const struct profile_finding *pieces = find(&findings, FINDING_PIECES);
    assert_non_null(pieces);
    assert_int_equal(pieces->row, 3);  // the smallest piece: 80 of 800
    assert_int_equal(pieces->bytes, 400);
    assert_true(pieces->share == 0.9);
    assert_null(find(&findings, FINDING_TIGHT));
    story_done(&s);
}

static void a_memory_that_is_merely_full_is_tight(void **state) {
    (void)state;
    struct story s;
    story_begin(&s, 100);
    s.capacity_bytes = 1000;
    story_free(&s, story_alloc(&s, "Big", 400));
    story_alloc(&s, "Much", 399);
    story_alloc(&s, "Much", 399);
    struct profile_findings findings = findings_of(&s);
    const struct profile_finding *tight = find(&findings, FINDING_TIGHT);
    assert_non_null(tight);
    assert_int_equal(tight->count, 1);
    assert_int_equal(tight->row, 3);
    assert_int_equal(tight->bytes, 400);
    assert_null(find(&findings, FINDING_PIECES));
    story_done(&s);
}

static void a_leak_is_told_at_the_end_of_the_steps(void **state) {
    (void)state;
    struct story s;
    story_begin(&s, 100);
    for (int i = 0; i < 6; i++) {
        s.step = i;
        int64_t begin_ps = s.time_ps;
        story_alloc(&s, "Relu", 1000);
        story_free(&s, story_alloc(&s, "MatMul", 10));
        story_root(&s, i, "train", begin_ps, s.time_ps - 1);
    }
    struct profile_findings findings = findings_of(&s);
    const struct profile_finding *leak = find(&findings, FINDING_LEAK);
    assert_non_null(leak);
    assert_true(bytes_equal(leak->op, BYTES("Relu")));
    assert_int_equal(leak->bytes, 1000);
    assert_int_equal(leak->count, 1);
    assert_int_equal(leak->row, 17);
    assert_true(leak->from_ps == 0 && leak->to_ps == 171);
    story_done(&s);
}

static void the_holder_of_the_peak_is_an_op_whatever_its_sites(void **state) {
    (void)state;
    struct story s;
    story_begin(&s, 100);
    story_alloc(&s, "One", 500);
    story_alloc(&s, "Several", 300);
    story_alloc(&s, "Several", 200);
    story_alloc(&s, "Several", 100);
    struct profile_findings findings = findings_of(&s);
    const struct profile_finding *holder = find(&findings, FINDING_HOLDER);
    assert_non_null(holder);
    assert_true(bytes_equal(holder->op, BYTES("Several")));
    assert_int_equal(holder->bytes, 600);
    assert_int_equal(holder->count, 3);
    assert_true(holder->share == 600.0 / 1100);
    expect_kinds(&findings, (enum finding_kind[]){FINDING_PEAK, FINDING_HOLDER}, 2);
    story_done(&s);
}

static void what_was_there_before_is_told_from_a_tenth_on(void **state) {
    (void)state;
    for (int64_t before = 99; before <= 101; before += 2) {
        struct story s;
        story_begin(&s, 100);
        s.heap_bytes = before;
        story_alloc(&s, "Op", 900);
        struct profile_findings findings = findings_of(&s);
        const struct profile_finding *unseen = find(&findings, FINDING_UNSEEN);
        assert_true((unseen != NULL) == (before == 101));
        if (unseen) assert_true(unseen->bytes == before && unseen->is_sure);
        story_done(&s);
    }
}

static void silences_are_the_longest_in_order_of_time(void **state) {
    (void)state;
    struct story s;
    struct timeline_silences silences;
    story_begin(&s, 2 * TIMELINE_SILENCES_MAX + 10);
    timeline_silences_find(&s.build.timeline, &silences);
    assert_int_equal(silences.count, 0);
    for (int i = 0; i < TIMELINE_SILENCES_MAX + 2; i++) {
        story_alloc(&s, "Op", 1);
        s.time_ps += i == 1 ? 100000 : i == 3 ? 200000 : 1000000 + i;
    }
    story_alloc(&s, "Op", 1);
    timeline_silences_find(&s.build.timeline, &silences);
    assert_int_equal(silences.count, TIMELINE_SILENCES_MAX);  // without the two short ones
    assert_int_equal(silences.items[0].begin_ps, 0);
    assert_int_equal(silences.items[0].end_ps, 1000010);
    assert_int_equal(silences.items[1].begin_ps, 1000010 + 100010);
    for (uint32_t i = 0; i < silences.count; i++) {
        assert_true(silences.items[i].end_ps - silences.items[i].begin_ps >= 1000010);
        if (i > 0) assert_true(silences.items[i].begin_ps >= silences.items[i - 1].end_ps);
    }
    story_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_requests_come_first_with_the_bytes_they_all_passed),
        cmocka_unit_test(a_silence_of_another_length_makes_it_unsure),
        cmocka_unit_test(pieces_are_told_where_enough_is_free_in_all),
        cmocka_unit_test(a_memory_that_is_merely_full_is_tight),
        cmocka_unit_test(a_leak_is_told_at_the_end_of_the_steps),
        cmocka_unit_test(the_holder_of_the_peak_is_an_op_whatever_its_sites),
        cmocka_unit_test(what_was_there_before_is_told_from_a_tenth_on),
        cmocka_unit_test(silences_are_the_longest_in_order_of_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
