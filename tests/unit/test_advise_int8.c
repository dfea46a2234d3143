// Weights in int8: of programs that only use them, and of nothing else.
#include "analysis/advice/advise.h"

#include "tests/unit/fixture_programs.h"

// Eight weights of 417.84 MiB in float32, to a quarter and a little padding; the caches stay.
static void check_inference(const struct advice *advice) {
    const struct advice_item *item = &advice->items[ADVICE_INT8_WEIGHTS];
    const int64_t weights_bytes = (int64_t)417 << 20;
    assert_true(item->applies && item->changes_numerics);
    assert_true(item->saves_bytes > weights_bytes / 10 * 7 && item->saves_bytes < weights_bytes / 100 * 76);
}

static void visit(const struct input_file *file, const struct xspace_program *program, struct byte_source *source,
                  void *context) {
    static struct advice advice;  // too large for a stack
    struct hlo_module module;
    struct arena arena;
    struct error error = {0};
    struct advice_request request = {0};
    arena_init(&arena, 0);
    assert_true(program_load(file, program, source, &arena, &module, &error));
    if (!advice_make(&module, &request, &arena, &advice, &error)) fail_msg("%s", error.message);
    assert_true(advice.items[ADVICE_INT8_WEIGHTS].applies == !advice.is_training);
    if (strstr(file->path, "/caches_scanned.")) {
        check_inference(&advice);
        ++*(int *)context;
    }
    arena_free(&arena);
}

static void only_programs_that_train_nothing_have_them(void **state) {
    (void)state;
    int seen = 0;
    fixture_programs_visit("tests/fixtures/advice", visit, &seen);
    assert_int_equal(seen, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_programs_that_train_nothing_have_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
