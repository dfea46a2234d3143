// Micro-batches: how many parts, and what is added.
#include "analysis/advice/advise.h"

#include "tests/unit/fixture_programs.h"

// The advice, whose texts are on `arena`.
static void make(const struct input_file *file, const struct xspace_program *program, struct byte_source *source,
                 struct arena *arena, struct advice *advice) {
    struct hlo_module module;
    struct error error = {0};
    struct advice_request request = {0};
    arena_init(arena, 0);
    assert_true(program_load(file, program, source, arena, &module, &error));
    if (!advice_make(&module, &request, arena, advice, &error)) fail_msg("%s", error.message);
}

static bool is_said(const struct advice_item *item, const char *words) {
    for (size_t i = 0; i < item->evidence_count; i++) {
        if (strstr(item->evidence[i], words)) return true;
    }
    return false;
}

static void check_trained_in_parts(const struct advice *advice) {
    const struct advice_item *item = &advice->items[ADVICE_MICRO_BATCH];
    assert_true(item->applies && item->parts == 4 && item->added_bytes > 0 && !item->changes_numerics);
    assert_int_equal(item->predicted_indefinite_bytes, advice->indefinite_bytes);  // the whole batch is given still
    assert_true(is_said(item, " in 2, ") && is_said(item, " in 16"));
}

static void visit(const struct input_file *file, const struct xspace_program *program, struct byte_source *source,
                  void *context) {
    static struct advice advice;  // too large for a stack
    const struct advice_item *item = &advice.items[ADVICE_MICRO_BATCH];
    struct arena arena;
    make(file, program, source, &arena, &advice);
    if (strstr(file->path, "/experts.")) check_trained_in_parts(&advice);
    if (strstr(file->path, "/caches_scanned.")) assert_true(!item->applies && item->parts == 0);  // trains nothing
    if (strstr(file->path, "/accumulated.")) {  // [8, 4, 512]: four more of each part, but no more sums
        assert_true(item->applies && item->parts == 4 && advice.batch == 4);
        assert_int_equal(item->added_bytes, 0);
    }
    arena_free(&arena);
    ++*(int *)context;
}

static void gradients_are_summed_over_parts_once(void **state) {
    (void)state;
    int seen = 0;
    fixture_programs_visit("tests/fixtures/advice", visit, &seen);
    assert_true(seen >= 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_summed_over_parts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
