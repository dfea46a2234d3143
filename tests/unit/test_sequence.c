// Which dimension of a program's data is its sequence: of programs that the compiler compiled (tests/fixtures/advice).
#include "analysis/advice/advise.h"

#include "tests/unit/fixture_programs.h"

struct expected {
    const char *program;
    int64_t sequence;  // 0: none
};

// Tokens [8, 4, 512] of gradient accumulation, caches [12, 8, 2048, ...] of layers, plain tokens; features and images.
static const struct expected all[] = {
    {"/accumulated.", 512}, {"/caches_scanned.", 2048},      {"/experts.", 512},
    {"/odd_length.", 1025}, {"/transformer_scanned.", 1024}, {"/dense.", 0},
    {"/odd_width.", 0},     {"/convolutions.", 0},
};
enum { EXPECTED = sizeof all / sizeof all[0] };

static int64_t sequence_of(const struct input_file *file, const struct xspace_program *program,
                           struct byte_source *source, int64_t told, int64_t *saves) {
    struct arena arena;
    struct hlo_module module;
    struct error error = {0};
    struct advice_request request = {.sequence = told};
    arena_init(&arena, 0);
    struct advice *advice = arena_new(&arena, struct advice, 1);
    assert_true(program_load(file, program, source, &arena, &module, &error));
    if (!advice_make(&module, &request, &arena, advice, &error)) fail_msg("%s", error.message);
    const struct advice_item *item = &advice->items[ADVICE_HALVE_SEQUENCE];
    int64_t sequence = advice->sequence;
    assert_int_equal(item->applies, sequence > 0);
    *saves = item->saves_bytes;
    arena_free(&arena);
    return sequence;
}

static void visit(const struct input_file *file, const struct xspace_program *program, struct byte_source *source,
                  void *context) {
    for (int i = 0; i < EXPECTED; i++) {
        int64_t saves, saves_told;
        if (!strstr(file->path, all[i].program)) continue;
        ++*(int *)context;
        assert_int_equal(sequence_of(file, program, source, 0, &saves), all[i].sequence);
        assert_int_equal(sequence_of(file, program, source, all[i].sequence, &saves_told), all[i].sequence);
        assert_int_equal(saves, saves_told);
        assert_int_equal(sequence_of(file, program, source, 77, &saves), 0);
        assert_int_equal(saves, 0);
    }
}

static void the_sequence_is_no_batch_no_feature_and_no_layers(void **state) {
    (void)state;
    int seen = 0;
    fixture_programs_visit("tests/fixtures/advice", visit, &seen);
    assert_int_equal(seen, EXPECTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sequence_is_no_batch_no_feature_and_no_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
