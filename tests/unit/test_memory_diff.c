// analysis/compare: what changed between two programs. First small programs, then every pair of those of the fixtures.
#include "analysis/compare/memory_diff.h"

#include "analysis/groups/frameworks.h"
#include "tests/unit/fixture_programs.h"
#include "tests/unit/program_build.h"

struct program {
    struct program_build build;
    struct hlo_module module;
    struct memory_view view;
    struct buffer_sources sources;
    struct compared_side side;
    int64_t next;   // instruction
    int64_t freed;  // the one whose buffer is freed at once; 0 for none
};

struct fixture {
    struct arena arena;
    struct program a, b;
    struct error error;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    arena_init(&f->arena, 0);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    program_build_free(&f->a.build);
    program_build_free(&f->b.build);
    arena_free(&f->arena);
    free(f);
    return 0;
}

static void view_program(struct fixture *f, struct program *p) {
    assert_true(memory_view_build(&p->module, 0, MEMORY_VIEW_EXACT, &f->arena, &p->view, &f->error));
    assert_true(buffer_sources_read(&p->module, FRAMEWORKS_DEFAULT, &f->arena, &p->sources, &f->error));
    p->side = (struct compared_side){&p->view, &p->sources};
}

// A temporary that lives to the end.
static void add(struct program *p, const char *name, const char *op_name, int32_t line, int64_t size) {
    int64_t id = ++p->next;
    program_build_node(&p->build, (struct program_node){.id = id,
                                                        .name = name,
                                                        .opcode = "add",
                                                        .op_name = op_name,
                                                        .file = line ? "/u/gpt.py" : NULL,
                                                        .line = line});
    hlo_build_buffer(&p->build.hlo, 100 + id, id, size, 0);
}

static void finish(struct fixture *f, struct program *p) {
    int64_t ids[16] = {0}, size = 0;
    program_build_end(&p->build, 10, p->next);
    for (int64_t i = 0; i < p->next; i++) ids[i] = 101 + i;
    for (int64_t i = 0; i < p->next; i++) size += 1000;
    struct hlo_build_allocation allocation = {.index = 1, .size = size};
    memcpy(allocation.buffers, ids, sizeof allocation.buffers < sizeof ids ? sizeof allocation.buffers : sizeof ids);
    hlo_build_allocation(&p->build.hlo, allocation);
    for (int64_t i = 0; i < p->next; i++) {
        hlo_build_event(&p->build.hlo, HLO_EVENT_ALLOC, ids[i], 0);
        if (i + 1 == p->freed) hlo_build_event(&p->build.hlo, HLO_EVENT_FREE, ids[i], 0);
    }
    hlo_build_end_trace(&p->build.hlo);
    assert_true(hlo_module_load(program_build_finish(&p->build), &f->arena, &p->module, &f->error));
    view_program(f, p);
}

static struct memory_diff compare(struct fixture *f, enum memory_group_by by) {
    struct memory_diff diff;
    finish(f, &f->a);
    finish(f, &f->b);
    assert_true(memory_diff_make(&f->a.side, &f->b.side, by, &f->arena, &diff, &f->error));
    return diff;
}

static void check_change(const struct memory_diff *diff, uint32_t row, enum buffer_change_kind kind, const char *a,
                         const char *b, int64_t delta_bytes) {
    assert_true(row < diff->buffers.row_count);
    const struct buffer_changes *changes = &diff->buffers;
    const struct buffer_change *change = &changes->rows[row];
    assert_int_equal(change->kind, kind);
    assert_int_equal(change->delta_bytes, delta_bytes);
    assert_int_equal(change->a == UNPAIRED, a == NULL);
    assert_int_equal(change->b == UNPAIRED, b == NULL);
    if (a) assert_true(bytes_equal(buffer_changes_word(changes, changes->a.list[change->a].name), bytes_of(a)));
    if (b) assert_true(bytes_equal(buffer_changes_word(changes, changes->b.list[change->b].name), bytes_of(b)));
}

static void check_group(const struct memory_diff *diff, uint32_t row, const char *a_key, const char *key, int64_t a,
                        int64_t b) {
    assert_true(row < diff->groups.row_count);
    const struct group_delta *group = &diff->groups.rows[row];
    assert_true(bytes_equal(group->key, bytes_of(key)));
    assert_true(bytes_equal(group->a_key, bytes_of(a_key)));
    assert_int_equal(group->a_bytes, a);
    assert_int_equal(group->b_bytes, b);
    assert_int_equal(group->delta_bytes, b - a);
}

static void each_kind_of_change(void **state) {
    struct fixture *f = *state;
    add(&f->a, "same", "jit(f)/same/add", 1, 10);
    add(&f->a, "gone", "jit(f)/gone/add", 2, 64);
    add(&f->a, "more", "jit(f)/more/add", 3, 20);
    add(&f->a, "less", "jit(f)/less/add", 4, 40);
    add(&f->a, "old", "jit(f)/before/add", 5, 30);
    add(&f->b, "new", "jit(f)/after/add", 5, 30);
    add(&f->b, "less", "jit(f)/less/add", 4, 32);
    add(&f->b, "more", "jit(f)/more/add", 3, 36);
    add(&f->b, "fresh", "jit(f)/fresh/sub", 6, 50);
    add(&f->b, "same", "jit(f)/same/add", 1, 10);
    struct memory_diff diff = compare(f, GROUP_BY_SOURCE);
    assert_int_equal(diff.peak_delta_bytes, 158 - 164);
    assert_int_equal(diff.buffers.row_count, 5);
    check_change(&diff, 0, CHANGE_LOST, "gone", NULL, -64);
    check_change(&diff, 1, CHANGE_GAINED, NULL, "fresh", 50);
    check_change(&diff, 2, CHANGE_GROWN, "more", "more", 16);
    check_change(&diff, 3, CHANGE_SHRUNK, "less", "less", -8);
    check_change(&diff, 4, CHANGE_RENAMED, "old", "new", 0);
    assert_int_equal(diff.buffers.unchanged_count, 1);
    assert_int_equal(diff.buffers.unchanged_bytes, 10);
    assert_int_equal(diff.buffers.renamed_bytes, 30);
    assert_int_equal(diff.groups.row_count, 4);
    check_group(&diff, 0, "gpt.py:2", "gpt.py:2", 64, 0);
    check_group(&diff, 1, "gpt.py:6", "gpt.py:6", 0, 50);
    assert_int_equal(diff.groups.unchanged_bytes, 40);
}

// The names that the compiler counts up say nothing; what comes first in one program is what comes first in the other.
static void equal_operations_are_paired_in_program_order(void **state) {
    struct fixture *f = *state;
    add(&f->a, "fusion.1", "jit(f)/h/add", 1, 10);
    add(&f->a, "fusion.2", "jit(f)/h/add", 1, 20);
    add(&f->b, "fusion.7", "jit(f)/h/add", 1, 10);
    add(&f->b, "fusion.8", "jit(f)/h/add", 1, 25);
    add(&f->b, "fusion.9", "jit(f)/h/add", 1, 30);
    struct memory_diff diff = compare(f, GROUP_BY_SCOPE);
    check_change(&diff, 0, CHANGE_GAINED, NULL, "fusion.9", 30);
    check_change(&diff, 1, CHANGE_GROWN, "fusion.2", "fusion.8", 5);
    check_change(&diff, 2, CHANGE_RENAMED, "fusion.1", "fusion.7", 0);
    check_group(&diff, 0, "h", "h", 30, 65);
}

static void lines_that_moved_are_the_same_lines(void **state) {
    struct fixture *f = *state;
    add(&f->a, "x", "jit(f)/x/add", 53, 100);
    add(&f->a, "y", "jit(f)/y/add", 55, 60);
    add(&f->b, "x", "jit(f)/x/add", 55, 150);
    add(&f->b, "y", "jit(f)/y/add", 57, 60);
    struct memory_diff diff = compare(f, GROUP_BY_SOURCE);
    assert_int_equal(diff.groups.row_count, 1);
    check_group(&diff, 0, "gpt.py:53", "gpt.py:55", 100, 150);
    assert_int_equal(diff.groups.unchanged_bytes, 60);
}

// Line 53 is still there and computes what it did: what an operation of its is doing in line 54 is no move.
static void a_line_that_stays_has_not_moved(void **state) {
    struct fixture *f = *state;
    add(&f->a, "x", "jit(f)/x/add", 53, 100);
    add(&f->a, "y", "jit(f)/y/add", 53, 10);
    add(&f->a, "z", "jit(f)/z/add", 60, 90);
    add(&f->b, "x", "jit(f)/x/add", 54, 100);
    add(&f->b, "y", "jit(f)/y/add", 53, 10);
    add(&f->b, "z", "jit(f)/z/add", 60, 90);
    struct memory_diff diff = compare(f, GROUP_BY_SOURCE);
    assert_int_equal(diff.groups.row_count, 2);
    check_group(&diff, 0, "gpt.py:53", "gpt.py:53", 110, 10);
    check_group(&diff, 1, "gpt.py:54", "gpt.py:54", 0, 100);
}

// One line holds all of B, so B is grouped by name; then A is as well.
static void both_sides_are_grouped_by_one_rule(void **state) {
    struct fixture *f = *state;
    add(&f->a, "x", "jit(f)/x/add", 1, 100);
    add(&f->a, "y", "jit(f)/y/add", 2, 100);
    add(&f->b, "x", "jit(f)/x/add", 1, 100);
    add(&f->b, "y", "jit(f)/y/add", 1, 70);
    struct memory_diff diff = compare(f, GROUP_BY_SOURCE);
    assert_int_equal(diff.groups.rule, GROUP_RULE_NAMES);
    assert_int_equal(diff.groups.row_count, 1);
    check_group(&diff, 0, "y", "y", 100, 70);
}

// The same, told by what is not live at the peak.
static void what_a_line_computes_before_the_peak_counts(void **state) {
    struct fixture *f = *state;
    add(&f->a, "y", "jit(f)/y/add", 53, 10);
    add(&f->a, "x", "jit(f)/x/add", 53, 100);
    add(&f->a, "z", "jit(f)/z/add", 60, 90);
    add(&f->b, "y", "jit(f)/y/add", 53, 10);
    add(&f->b, "x", "jit(f)/x/add", 54, 100);
    add(&f->b, "z", "jit(f)/z/add", 60, 90);
    f->a.freed = f->b.freed = 1;
    struct memory_diff diff = compare(f, GROUP_BY_SOURCE);
    assert_int_equal(diff.groups.row_count, 2);
    check_group(&diff, 0, "gpt.py:53", "gpt.py:53", 100, 0);
    check_group(&diff, 1, "gpt.py:54", "gpt.py:54", 0, 100);
}

// An argument that is copied out, and one that is donated and written in place.
static void build_step(struct fixture *f, struct program *p, bool donates) {
    program_build_node(&p->build,
                       (struct program_node){.id = 1, .name = "p", .opcode = "parameter", .op_name = "params['w']"});
    program_build_node(
        &p->build,
        (struct program_node){.id = 2, .name = "new", .opcode = "add", .operands = {1}, .op_name = "jit(f)/add"});
    program_build_end(&p->build, 10, 2);
    hlo_build_buffer(&p->build.hlo, 101, 1, 80, 0);
    hlo_build_buffer(&p->build.hlo, 102, 2, 80, 0);
    struct hlo_build_allocation argument = {.index = 0, .size = 80, .is_parameter = true, .buffers = {101, 102}};
    if (!donates) argument.buffers[1] = 0;
    argument.is_live_out = donates;
    hlo_build_allocation(&p->build.hlo, argument);
    if (!donates)
        hlo_build_allocation(&p->build.hlo, (struct hlo_build_allocation){
                                                .index = 1, .size = 80, .is_live_out = true, .buffers = {102}});
    assert_true(hlo_module_load(program_build_finish(&p->build), &f->arena, &p->module, &f->error));
    view_program(f, p);
}

static void a_donated_output_became_an_alias(void **state) {
    struct fixture *f = *state;
    struct memory_diff diff;
    build_step(f, &f->a, false);
    build_step(f, &f->b, true);
    assert_true(memory_diff_make(&f->a.side, &f->b.side, GROUP_BY_CATEGORY, &f->arena, &diff, &f->error));
    assert_int_equal(diff.buffers.row_count, 1);
    check_change(&diff, 0, CHANGE_LOST, "new", NULL, -80);
    assert_true(diff.buffers.rows[0].is_alias);
    assert_int_equal(diff.buffers.aliased_count, 1);
    assert_int_equal(diff.buffers.aliased_bytes, 80);
    assert_true(memory_diff_make(&f->b.side, &f->a.side, GROUP_BY_CATEGORY, &f->arena, &diff, &f->error));
    check_change(&diff, 0, CHANGE_GAINED, NULL, "new", 80);
    assert_int_equal(diff.buffers.aliased_count, 0);
    assert_int_equal(diff.buffers.unaliased_bytes, 80);
}

// What was donated in both is no reason for an output to be gone.
static void build_donated(struct fixture *f, struct program *p, bool has_output) {
    program_build_node(&p->build,
                       (struct program_node){.id = 1, .name = "p", .opcode = "parameter", .op_name = "params['w']"});
    program_build_node(
        &p->build,
        (struct program_node){.id = 2, .name = "out", .opcode = "add", .operands = {1}, .op_name = "jit(f)/add"});
    program_build_end(&p->build, 10, 2);
    hlo_build_buffer(&p->build.hlo, 101, 1, 80, 0);
    hlo_build_buffer(&p->build.hlo, 102, 2, 80, 0);
    hlo_build_allocation(&p->build.hlo,
                         (struct hlo_build_allocation){
                             .index = 0, .size = 80, .is_parameter = true, .is_live_out = true, .buffers = {101}});
    if (has_output)
        hlo_build_allocation(&p->build.hlo, (struct hlo_build_allocation){
                                                .index = 1, .size = 80, .is_live_out = true, .buffers = {102}});
    assert_true(hlo_module_load(program_build_finish(&p->build), &f->arena, &p->module, &f->error));
    view_program(f, p);
}

static void an_output_that_is_gone_is_no_alias_without_a_donation(void **state) {
    struct fixture *f = *state;
    struct memory_diff diff;
    build_donated(f, &f->a, true);
    build_donated(f, &f->b, false);
    assert_true(memory_diff_make(&f->a.side, &f->b.side, GROUP_BY_CATEGORY, &f->arena, &diff, &f->error));
    check_change(&diff, 0, CHANGE_LOST, "out", NULL, -80);
    assert_false(diff.buffers.rows[0].is_alias);
    assert_int_equal(diff.buffers.aliased_count, 0);
}

// --- Other names ---

static void a_scope_under_another_name_is_one_row(void **state) {
    struct fixture *f = *state;
    add(&f->a, "x", "jit(f)/attention/dot", 1, 60);
    add(&f->a, "y", "jit(f)/mlp/dot", 2, 50);
    add(&f->b, "x", "jit(f)/self_attn/dot", 1, 80);
    add(&f->b, "y", "jit(f)/mlp/dot", 2, 50);
    struct memory_diff diff = compare(f, GROUP_BY_SCOPE);
    assert_int_equal(diff.groups.row_count, 1);
    check_group(&diff, 0, "attention", "self_attn", 60, 80);
    assert_int_equal(diff.groups.unchanged_bytes, 50);
}

static void a_scope_that_both_have_keeps_its_name(void **state) {
    struct fixture *f = *state;
    add(&f->a, "x", "jit(f)/attention/dot", 1, 60);
    add(&f->a, "y", "jit(f)/mlp/dot", 1, 50);
    add(&f->b, "x", "jit(f)/other/dot", 1, 60);
    add(&f->b, "y", "jit(f)/attention/dot", 1, 50);
    struct memory_diff diff = compare(f, GROUP_BY_SCOPE);
    assert_int_equal(diff.groups.row_count, 2);
    check_group(&diff, 0, "attention", "attention", 60, 50);
    check_group(&diff, 1, "mlp", "other", 50, 60);
}

// What a group says of the buffers themselves is no name.
static void a_category_is_not_renamed(void **state) {
    struct fixture *f = *state;
    struct memory_diff diff;
    build_step(f, &f->a, false);
    build_step(f, &f->b, true);
    assert_true(memory_diff_make(&f->a.side, &f->b.side, GROUP_BY_CATEGORY, &f->arena, &diff, &f->error));
    assert_int_equal(diff.groups.row_count, 3);
    check_group(&diff, 0, "donated", "donated", 0, 80);
    check_group(&diff, 1, "output", "output", 80, 0);
    check_group(&diff, 2, "parameter", "parameter", 80, 0);
}

static void build_argument(struct fixture *f, struct program *p, const char *path) {
    program_build_node(&p->build, (struct program_node){.id = 1, .name = "p", .opcode = "parameter", .op_name = path});
    program_build_end(&p->build, 10, 1);
    hlo_build_buffer(&p->build.hlo, 101, 1, 80, 0);
    hlo_build_allocation(&p->build.hlo,
                         (struct hlo_build_allocation){.index = 0, .size = 80, .is_parameter = true, .buffers = {101}});
    assert_true(hlo_module_load(program_build_finish(&p->build), &f->arena, &p->module, &f->error));
    view_program(f, p);
}

static void an_argument_under_another_name_is_renamed(void **state) {
    struct fixture *f = *state;
    struct memory_diff diff;
    build_argument(f, &f->a, "params['head']");
    build_argument(f, &f->b, "params['unembed']");
    assert_true(memory_diff_make(&f->a.side, &f->b.side, GROUP_BY_SOURCE, &f->arena, &diff, &f->error));
    assert_int_equal(diff.buffers.row_count, 1);
    assert_int_equal(diff.buffers.rows[0].kind, CHANGE_RENAMED);
    assert_int_equal(diff.groups.row_count, 0);
    assert_int_equal(diff.groups.unchanged_bytes, 80);
}

// One that the compiler counts up and names no operation, of another size: by its line.
static void a_copy_of_another_size_is_grown(void **state) {
    struct fixture *f = *state;
    add(&f->a, "copy.1", NULL, 1, 60);
    add(&f->b, "copy.9", NULL, 1, 80);
    struct memory_diff diff = compare(f, GROUP_BY_SOURCE);
    assert_int_equal(diff.buffers.row_count, 1);
    check_change(&diff, 0, CHANGE_GROWN, "copy.1", "copy.9", 20);
}

// --- Every pair of the fixtures' programs ---

enum { PROGRAMS_MAX = 64 };

struct all {
    struct arena arena;
    struct program programs[PROGRAMS_MAX];
    uint32_t count, compared;
};

static void load_one(const struct input_file *file, const struct xspace_program *program, struct byte_source *source,
                     void *context) {
    struct all *all = context;
    struct error error;
    struct program *p = &all->programs[all->count++];
    assert_true(all->count <= PROGRAMS_MAX);
    assert_true(program_load(file, program, source, &all->arena, &p->module, &error));
    assert_true(memory_view_build(&p->module, 0, MEMORY_VIEW_EXACT, &all->arena, &p->view, &error));
    assert_true(buffer_sources_read(&p->module, FRAMEWORKS_DEFAULT, &all->arena, &p->sources, &error));
    p->side = (struct compared_side){&p->view, &p->sources};
}

static void load_all(struct all *all) {
    fixture_programs_visit("tests/fixtures/logdir", load_one, all);
    fixture_programs_visit("tests/fixtures/xla_dump", load_one, all);
}

struct sums {
    int64_t groups, unchanged_groups, buffers;
    uint32_t rows;
};

static struct sums check_diff(const struct program *a, const struct program *b, enum memory_group_by by) {
    struct arena arena;
    struct memory_diff diff;
    struct error error;
    struct sums sums = {0};
    arena_init(&arena, 0);
    if (!memory_diff_make(&a->side, &b->side, by, &arena, &diff, &error)) fail_msg("%s", error.message);
    int64_t a_bytes = diff.groups.unchanged_bytes, b_bytes = diff.groups.unchanged_bytes;
    for (uint32_t i = 0; i < diff.groups.row_count; i++) {
        assert_int_not_equal(diff.groups.rows[i].delta_bytes, 0);
        a_bytes += diff.groups.rows[i].a_bytes;
        b_bytes += diff.groups.rows[i].b_bytes;
        sums.groups += diff.groups.rows[i].delta_bytes;
    }
    for (uint32_t i = 0; i < diff.buffers.row_count; i++) sums.buffers += diff.buffers.rows[i].delta_bytes;
    assert_int_equal(a_bytes, a->view.peak_bytes);
    assert_int_equal(b_bytes, b->view.peak_bytes);
    assert_int_equal(sums.groups, b->view.peak_bytes - a->view.peak_bytes);
    assert_int_equal(sums.buffers, b->view.peak_bytes - a->view.peak_bytes);
    assert_int_equal(diff.peak_delta_bytes, sums.buffers);
    sums.unchanged_groups = diff.groups.unchanged_bytes;
    sums.rows = diff.groups.row_count + diff.buffers.row_count;
    arena_free(&arena);
    return sums;
}

static void check_pair(const struct program *a, const struct program *b, enum memory_group_by by) {
    struct sums there = check_diff(a, b, by);
    if (a == b) assert_int_equal(there.rows, 0);
    struct sums back = check_diff(b, a, by);
    assert_int_equal(there.groups, -back.groups);
    assert_int_equal(there.unchanged_groups, back.unchanged_groups);
    assert_int_equal(there.rows, back.rows);
}

// Each pair by line and in turn by one of the other ways.
static void every_pair_of_programs_sums_to_its_peaks(void **state) {
    (void)state;
    struct all *all = calloc(1, sizeof *all);
    arena_init(&all->arena, 0);
    load_all(all);
    for (uint32_t i = 0; i < all->count; i++) {
        for (int by = 0; by < GROUP_BY_COUNT; by++)
            check_pair(&all->programs[i], &all->programs[i], (enum memory_group_by)by);
        for (uint32_t j = i + 1; j < all->count; j++, all->compared++) {
            check_pair(&all->programs[i], &all->programs[j], GROUP_BY_SOURCE);
            check_pair(&all->programs[i], &all->programs[j], (enum memory_group_by)((i + j) % GROUP_BY_COUNT));
        }
    }
    assert_true(all->count > 10 && all->compared > 100);
    arena_free(&all->arena);
    free(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_kind_of_change, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_scope_under_another_name_is_one_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_scope_that_both_have_keeps_its_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_category_is_not_renamed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_argument_under_another_name_is_renamed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_copy_of_another_size_is_grown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(equal_operations_are_paired_in_program_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lines_that_moved_are_the_same_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_line_that_stays_has_not_moved, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_line_computes_before_the_peak_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(both_sides_are_grouped_by_one_rule, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_output_that_is_gone_is_no_alias_without_a_donation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_donated_output_became_an_alias, set_up, tear_down),
        cmocka_unit_test(every_pair_of_programs_sums_to_its_peaks),
    };
    return cmocka_run_group_tests_name("memory_diff", tests, NULL, NULL);
}
