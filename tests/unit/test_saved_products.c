// Blocks that keep their products with weights: between those that keep nothing and those that keep all.
#include "analysis/advice/advise.h"

#include "tests/unit/fixture_programs.h"

static void check(const struct advice *advice) {
    const struct advice_item *nothing = &advice->items[ADVICE_REMATERIALIZE];
    const struct advice_item *products = &advice->items[ADVICE_REMATERIALIZE_DOTS];
    assert_true(nothing->applies && products->applies && !products->changes_numerics);
    assert_true(products->predicted_total_bytes > nothing->predicted_total_bytes);
    assert_true(products->added_bytes > 0);  // a product may be larger than what the compiler kept
}

static void visit(const struct input_file *file, const struct xspace_program *program, struct byte_source *source,
                  void *context) {
    static struct advice advice;  // too large for a stack
    struct hlo_module module;
    struct arena arena;
    struct error error = {0};
    struct advice_request request = {0};
    bool is_trained = strstr(file->path, "/transformer_scanned.") || strstr(file->path, "/dense.");
    bool is_inference = strstr(file->path, "/caches_scanned.");
    if (!is_trained && !is_inference) return;
    arena_init(&arena, 0);
    assert_true(program_load(file, program, source, &arena, &module, &error));
    if (!advice_make(&module, &request, &arena, &advice, &error)) fail_msg("%s", error.message);
    if (is_trained) check(&advice);
    if (is_inference) assert_false(advice.items[ADVICE_REMATERIALIZE_DOTS].applies);
    arena_free(&arena);
    ++*(int *)context;
}

static void blocks_that_keep_products_keep_more_than_their_inputs(void **state) {
    (void)state;
    int seen = 0;
    fixture_programs_visit("tests/fixtures/advice", visit, &seen);
    assert_int_equal(seen, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_that_keep_products_keep_more_than_their_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
