// What groups are called: whose file a frame is in, which argument a path is of, how short a path may be.
#include "analysis/groups/argument_path.h"
#include "analysis/groups/frameworks.h"
#include "analysis/groups/short_paths.h"

#include "tests/unit/cmocka_all.h"

static bool is_theirs(const char *frameworks, const char *file) {
    return frameworks_have(frameworks, bytes_of(file));
}

static void files_of_frameworks(void **state) {
    (void)state;
    static const struct {
        const char *file;
        bool is_theirs;
    } cases[] = {
        {"/usr/lib/python3.11/site-packages/flax/linen/linear.py", true},
        {"/usr/lib/python3/dist-packages/numpy/core.py", true},
        {"/venv/lib/python3.11/site-packages/keras/src/backend/jax/nn.py", true},
        {"/venv/lib/python3.11/site-packages/einops.py", true},
        {"/venv/lib/python3.11/site-packages/transformers/models/bert/modeling_flax_bert.py", false},
        {"/venv/lib/python3.11/site-packages/keras_hub/src/models/gpt2.py", false},
        {"/venv/lib/python3.11/site-packages/flaxformer/layers.py", false},
        {"/home/u/jax/train.py", false},  // the reader's folder, whatever it is called
        {"/home/u/jax/jax/_src/lax.py", true},
        {"/home/u/src/flax/flax/linen/linear.py", true},
        {"flax/linen/linear.py", true},
        {"/usr/lib/python3.11/contextlib.py", true},
        {"train.py", false},
        {"", false},
        {"/site-packages/", false},
        {"jax", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(is_theirs(FRAMEWORKS_DEFAULT, cases[i].file), cases[i].is_theirs);
}

static void frameworks_of_the_reader(void **state) {
    (void)state;
    const char *bert = "/v/site-packages/transformers/bert.py", *linear = "/v/site-packages/flax/linear.py";
    assert_true(is_theirs("+transformers", bert));
    assert_true(is_theirs("+transformers", linear));
    assert_true(is_theirs("numpy,transformers", bert));
    assert_false(is_theirs("numpy,transformers", linear));
    assert_false(is_theirs("", linear));
    assert_false(is_theirs(",,", linear));
    assert_true(is_theirs("models/layers", "/v/site-packages/models/layers/mlp.py"));
    assert_false(is_theirs("models/layers", "/v/site-packages/models/gpt.py"));
    assert_true(is_theirs("models/layers", "/home/u/models/models/layers/mlp.py"));
    assert_false(is_theirs("models/layers", "/home/u/models/models/gpt.py"));
}

static void roots_of_arguments(void **state) {
    (void)state;
    static const struct {
        const char *path, *root;
    } cases[] = {
        {"params['layers'][3]['w']", "params.layers"},
        {"opt_state[0].nu['layers'][3]['w']", "opt_state[0].nu"},
        {"opt_state[0].count", "opt_state[0].count"},
        {"state.params['params']['wte']['embedding']", "state.params.params.wte"},
        {"params[0][1]", "params"},
        {"x", "x"},
        {"", ""},
        {"[", ""},
        {"[0][1]", "0[1]"},
    };
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes root = argument_path_root(bytes_of(cases[i].path), &arena);
        assert_int_equal(root.size, strlen(cases[i].root));
        assert_memory_equal(root.data, cases[i].root, root.size);
    }
    arena_free(&arena);
}

static void paths_as_short_as_tells_them_apart(void **state) {
    (void)state;
    struct bytes paths[] = {BYTES(""), BYTES("/u/train.py"), BYTES("/u/llama3/model.py"), BYTES("/u/gemma/model.py"),
                            BYTES("model.py")};
    static const char *const expected[] = {"", "train.py", "llama3/model.py", "gemma/model.py", "model.py"};
    struct arena arena;
    struct bytes *names;
    arena_init(&arena, 0);
    assert_true(short_paths_make(paths, 5, &arena, &names));
    for (size_t i = 0; i < 5; i++) assert_true(bytes_equal(names[i], bytes_of(expected[i])));
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_frameworks),
        cmocka_unit_test(frameworks_of_the_reader),
        cmocka_unit_test(roots_of_arguments),
        cmocka_unit_test(paths_as_short_as_tells_them_apart),
    };
    return cmocka_run_group_tests_name("group_names", tests, NULL, NULL);
}
