// analysis/groups: who holds the memory at a step. First small programs, then every step of the profiles and dumps.
#include "analysis/groups/memory_groups.h"

#include <math.h>

#include "analysis/groups/buffer_phases.h"
#include "analysis/groups/frameworks.h"
#include "analysis/groups/group_steps.h"
#include "tests/unit/fixture_programs.h"
#include "tests/unit/program_build.h"

struct fixture {
    struct program_build build;
    struct arena arena;
    struct hlo_module module;
    struct memory_view view;
    struct buffer_sources sources;
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
    program_build_free(&f->build);
    arena_free(&f->arena);
    free(f);
    return 0;
}

static void node(struct fixture *f, struct program_node described) {
    program_build_node(&f->build, described);
}

static void buffer(struct fixture *f, int64_t id, int64_t instruction, int64_t size) {
    hlo_build_buffer(&f->build.hlo, id, instruction, size, 0);
}

static void event(struct fixture *f, enum hlo_event_kind kind, int64_t id, int64_t canonical) {
    hlo_build_event(&f->build.hlo, kind, id, canonical);
}

static void read_sources(struct fixture *f) {
    if (!memory_view_build(&f->module, 0, MEMORY_VIEW_EXACT, &f->arena, &f->view, &f->error) ||
        !buffer_sources_read(&f->module, FRAMEWORKS_DEFAULT, &f->arena, &f->sources, &f->error))
        fail_msg("%s", f->error.message);
}

static void finish(struct fixture *f) {
    assert_true(hlo_module_load(program_build_finish(&f->build), &f->arena, &f->module, &f->error));
    read_sources(f);
}

static struct memory_groups groups_at(struct fixture *f, enum memory_group_by by, uint32_t step) {
    struct memory_grouping *grouping = arena_new(&f->arena, struct memory_grouping, 1);
    struct memory_groups groups;
    assert_true(memory_grouping_make(&f->view, &f->sources, by, &f->arena, grouping, &f->error));
    assert_true(memory_groups_at(grouping, step, &f->arena, &groups, &f->error));
    return groups;
}

static void check_row(const struct memory_groups *groups, uint32_t row, const char *key, int64_t size_bytes,
                      uint32_t buffers) {
    assert_true(row < groups->row_count);
    if (!bytes_equal(groups->rows[row].key, bytes_of(key)))
        fail_msg("row %u is %.*s, not %s", row, (int)groups->rows[row].key.size,
                 (const char *)groups->rows[row].key.data, key);
    assert_int_equal(groups->rows[row].size_bytes, size_bytes);
    assert_int_equal(groups->rows[row].buffers, buffers);
}

// params -> c (a copy), a (gpt.py:5, forward, read backward), g (gpt.py:9, backward), z (no metadata, made of g).
static void build_step(struct fixture *f) {
    node(f, (struct program_node){.id = 1, .name = "p", .opcode = "parameter", .op_name = "params['w'][2]"});
    node(f, (struct program_node){.id = 2, .name = "c", .opcode = "copy", .operands = {1}});
    node(f, (struct program_node){.id = 3,
                                  .name = "a",
                                  .opcode = "add",
                                  .operands = {2, 2},
                                  .op_name = "jit(f)/jvp(M)/h/0/add",
                                  .file = "/u/gpt.py",
                                  .line = 5});
    node(f, (struct program_node){.id = 4,
                                  .name = "g",
                                  .opcode = "add",
                                  .operands = {3, 2},
                                  .op_name = "jit(f)/transpose(jvp(M))/h/0/mul",
                                  .file = "/u/gpt.py",
                                  .line = 9});
    node(f, (struct program_node){.id = 5,
                                  .name = "u",
                                  .opcode = "subtract",
                                  .operands = {1, 4},
                                  .op_name = "jit(f)/sub",
                                  .file = "/u/train.py",
                                  .line = 7});
    program_build_end(&f->build, 10, 5);
    buffer(f, 101, 1, 100);
    buffer(f, 102, 2, 100);
    buffer(f, 103, 3, 40);
    buffer(f, 104, 4, 60);
    buffer(f, 105, 5, 80);
    hlo_build_allocation(
        &f->build.hlo, (struct hlo_build_allocation){.index = 0, .size = 100, .is_parameter = true, .buffers = {101}});
    hlo_build_allocation(&f->build.hlo,
                         (struct hlo_build_allocation){.index = 1, .size = 280, .buffers = {102, 103, 104, 105}});
    event(f, HLO_EVENT_ALLOC, 102, 0);         // 0
    event(f, HLO_EVENT_ALLOC, 103, 0);         // 1
    event(f, HLO_EVENT_ALLOC, 104, 0);         // 2: the peak
    event(f, HLO_EVENT_FREE, 103, 0);          // 3
    event(f, HLO_EVENT_FREE, 102, 0);          // 4
    event(f, HLO_EVENT_SHARE_WITH, 105, 104);  // 5: in the bytes of 104, which are counted once
    event(f, HLO_EVENT_FREE, 104, 0);          // 6
    event(f, HLO_EVENT_FREE, 105, 0);          // 7
    hlo_build_end_trace(&f->build.hlo);
    finish(f);
}

static void lines_and_arguments_in_one_table(void **state) {
    struct fixture *f = *state;
    build_step(f);
    assert_int_equal(memory_groups_peak_step(&f->view), 2);
    assert_int_equal(memory_groups_last_step(&f->view), 7);
    struct memory_groups groups = groups_at(f, GROUP_BY_SOURCE, 2);
    assert_int_equal(groups.live_bytes, 300);
    assert_int_equal(groups.row_count, 3);
    check_row(&groups, 0, "params.w", 200, 2);
    check_row(&groups, 1, "gpt.py:9", 60, 1);
    check_row(&groups, 2, "gpt.py:5", 40, 1);
    assert_int_equal(groups.unknown_bytes, 0);
    const struct memory_group *params = &groups.rows[0];
    assert_int_equal(f->view.rows[groups.members[params->first_member]].category, ALLOCATION_PARAMETER);
    assert_int_equal(f->view.rows[groups.members[params->first_member + 1]].category, ALLOCATION_TEMPORARY);
}

static void each_way_to_group(void **state) {
    struct fixture *f = *state;
    build_step(f);
    struct memory_groups groups = groups_at(f, GROUP_BY_STACK, 2);
    check_row(&groups, 1, "gpt.py:9", 60, 1);
    groups = groups_at(f, GROUP_BY_SCOPE, 2);
    check_row(&groups, 0, "params.w", 200, 2);
    check_row(&groups, 1, "M/h/0", 100, 2);
    groups = groups_at(f, GROUP_BY_ARGUMENT, 2);
    check_row(&groups, 0, "params['w'][2]", 200, 2);
    check_row(&groups, 1, "(no argument)", 100, 2);
    groups = groups_at(f, GROUP_BY_PHASE, 2);
    check_row(&groups, 0, "inputs", 200, 2);
    check_row(&groups, 1, "backward", 60, 1);
    check_row(&groups, 2, "saved for backward", 40, 1);
    groups = groups_at(f, GROUP_BY_CATEGORY, 2);
    check_row(&groups, 0, "temporary", 200, 3);
    check_row(&groups, 1, "parameter", 100, 1);
    groups = groups_at(f, GROUP_BY_DTYPE, 2);
    check_row(&groups, 0, "f32", 300, 4);
    assert_int_equal(groups.rows[0].padding_bytes, 68 + 68 + 8 + 28);  // each holds 8 float32
    groups = groups_at(f, GROUP_BY_SHAPE, 2);
    check_row(&groups, 0, "f32[8]", 300, 4);
    groups = groups_at(f, GROUP_BY_OPCODE, 2);
    check_row(&groups, 0, "add", 100, 2);  // of equal ones the first by key
    check_row(&groups, 1, "copy", 100, 1);
    check_row(&groups, 2, "parameter", 100, 1);
}

static void without_a_simulation_there_is_one_step(void **state) {
    struct fixture *f = *state;
    node(f, (struct program_node){.id = 1, .name = "p", .opcode = "parameter", .op_name = "params['w'][2]"});
    program_build_end(&f->build, 10, 1);
    buffer(f, 101, 1, 100);
    hlo_build_allocation(
        &f->build.hlo, (struct hlo_build_allocation){.index = 0, .size = 100, .is_parameter = true, .buffers = {101}});
    finish(f);
    assert_false(f->view.has_simulation);
    struct memory_groups groups = groups_at(f, GROUP_BY_SOURCE, 0);
    check_row(&groups, 0, "params.w", 100, 1);
    assert_int_equal(groups.rows[0].size_x_lifetime, 100);
}

static void weights(void **state) {
    struct fixture *f = *state;
    build_step(f);
    struct memory_groups groups = groups_at(f, GROUP_BY_SOURCE,
                                            2);  // of 8 steps; 102: 0 to 4, 103: 1 to 3, 104: 2 to 7
    memory_groups_weigh(&groups, GROUP_WEIGHT_SIZE_X_LIFETIME);
    check_row(&groups, 0, "params.w", 200, 2);
    assert_int_equal(groups.rows[0].size_x_lifetime, 100 * 8 + 100 * 4);
    assert_int_equal(groups.rows[1].size_x_lifetime, 60 * 5);
    assert_int_equal(groups.rows[2].size_x_lifetime, 40 * 2);
    assert_true(memory_group_share(&groups, &groups.rows[0]) == 1200.0 / (1200 + 300 + 80));
    memory_groups_weigh(&groups, GROUP_WEIGHT_PADDING);
    check_row(&groups, 0, "params.w", 200, 2);  // 68 each
    check_row(&groups, 1, "gpt.py:9", 60, 1);   // 28
    assert_true(memory_group_share(&groups, &groups.rows[1]) == 28.0 / (136 + 28 + 8));
    memory_groups_weigh(&groups, GROUP_WEIGHT_SIZE);
    assert_true(memory_group_share(&groups, &groups.rows[0]) == 200.0 / 300);
    enum memory_group_weight weight;
    assert_true(memory_group_weight_of("size_x_lifetime", &weight) && weight == GROUP_WEIGHT_SIZE_X_LIFETIME);
    assert_false(memory_group_weight_of("lifetime", &weight));
}

static void shared_bytes_count_once(void **state) {
    struct fixture *f = *state;
    build_step(f);
    for (uint32_t step = 5; step <= 6; step++) {
        struct memory_groups groups = groups_at(f, GROUP_BY_SOURCE, step);
        assert_int_equal(groups.live_bytes, 160);
        assert_int_equal(groups.row_count, 2);
        check_row(&groups, 0, "params.w", 100, 1);
        check_row(&groups, 1, "gpt.py:9", 60, 1);
    }
    struct memory_groups end = groups_at(f, GROUP_BY_SOURCE, 7);
    check_row(&end, 0, "params.w", 100, 1);
    assert_int_equal(end.row_count, 1);
}

static void a_clone_after_the_turn_is_computed_again(void **state) {
    struct fixture *f = *state;
    node(f, (struct program_node){.id = 1, .name = "a", .opcode = "iota", .op_name = "jit(f)/jvp()/iota"});
    node(f, (struct program_node){
                .id = 2, .name = "g", .opcode = "add", .operands = {1}, .op_name = "jit(f)/transpose(jvp())/add"});
    node(f, (struct program_node){.id = 3, .name = "a.remat", .opcode = "iota", .op_name = "jit(f)/jvp()/iota"});
    node(f, (struct program_node){
                .id = 4, .name = "h", .opcode = "add", .operands = {3, 2}, .op_name = "jit(f)/transpose(jvp())/add"});
    node(f,
         (struct program_node){.id = 5, .name = "m", .opcode = "multiply", .operands = {4}, .op_name = "jit(f)/mul"});
    node(f, (struct program_node){.id = 6, .name = "lone", .opcode = "iota", .op_name = "jit(f)/iota"});
    program_build_end(&f->build, 10, 5);
    for (int64_t i = 1; i <= 6; i++) buffer(f, 100 + i, i, 64);
    hlo_build_allocation(&f->build.hlo, (struct hlo_build_allocation){
                                            .index = 1, .size = 384, .buffers = {101, 102, 103, 104, 105, 106}});
    for (int64_t i = 1; i <= 6; i++) event(f, HLO_EVENT_ALLOC, 100 + i, 0);
    hlo_build_end_trace(&f->build.hlo);
    finish(f);
    static const struct {
        enum buffer_phase phase;
        enum buffer_phase_rule rule;
    } expected[] = {
        {BUFFER_SAVED, RULE_READER},     {BUFFER_BACKWARD, RULE_OP_NAME},         {BUFFER_BACKWARD, RULE_CLONE},
        {BUFFER_BACKWARD, RULE_OP_NAME}, {BUFFER_OPTIMIZER, RULE_FROM_GRADIENTS}, {BUFFER_UNKNOWN, RULE_NONE}};
    struct buffer_phases phases;
    assert_true(buffer_phases_find(&f->sources, &f->view.replay, &f->arena, &phases));
    for (uint32_t i = 0; i < 6; i++) {
        struct buffer_phase_told told = buffer_phase_of(&phases, &f->view.rows[i]);
        assert_int_equal(told.phase, expected[i].phase);
        assert_int_equal(told.rule, expected[i].rule);
    }
}

// x is read by a backward fusion, through a prefetch without a name; inside of the fusion a forward operation is
// computed once more, which is no forward reader.
static void readers_are_seen_through_prefetches_and_as_whole_fusions(void **state) {
    struct fixture *f = *state;
    node(f, (struct program_node){.id = 1, .name = "q", .opcode = "parameter"});
    node(f, (struct program_node){
                .id = 2, .name = "again", .opcode = "tanh", .operands = {1}, .op_name = "jit(f)/jvp()/tanh"});
    program_build_end(&f->build, 20, 2);
    node(f, (struct program_node){.id = 3, .name = "x", .opcode = "iota", .op_name = "jit(f)/jvp()/iota"});
    node(f, (struct program_node){.id = 4, .name = "fetch", .opcode = "copy", .operands = {3}});
    node(f, (struct program_node){.id = 5,
                                  .name = "b",
                                  .opcode = "fusion",
                                  .operands = {4},
                                  .called = {20},
                                  .op_name = "jit(f)/transpose(jvp())/mul"});
    program_build_end(&f->build, 21, 5);
    for (int64_t i = 3; i <= 5; i++) buffer(f, 100 + i, i, 64);
    hlo_build_allocation(&f->build.hlo,
                         (struct hlo_build_allocation){.index = 1, .size = 192, .buffers = {103, 104, 105}});
    for (int64_t i = 3; i <= 5; i++) event(f, HLO_EVENT_ALLOC, 100 + i, 0);
    hlo_build_end_trace(&f->build.hlo);
    finish(f);
    struct buffer_phases phases;
    assert_true(buffer_phases_find(&f->sources, &f->view.replay, &f->arena, &phases));
    static const enum buffer_phase expected[] = {BUFFER_SAVED, BUFFER_SAVED, BUFFER_BACKWARD};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(buffer_phase_of(&phases, &f->view.rows[i]).phase, expected[i]);
        assert_int_equal(phases.read_in[f->sources.graph.leaf_of_buffer[f->view.rows[i].buffer]],
                         i < 2 ? 1u << PHASE_BACKWARD : 0);
    }
}

// Five buffers of one line in five layers: the line says nothing, the names part it.
static void build_one_line(struct fixture *f, const char *const names[5]) {
    for (int64_t i = 1; i <= 5; i++) {
        node(f, (struct program_node){
                    .id = i, .name = "n", .opcode = "iota", .op_name = names[i - 1], .file = "/u/model.py", .line = 1});
        buffer(f, 100 + i, i, 64);
    }
    program_build_end(&f->build, 10, 5);
    hlo_build_allocation(&f->build.hlo,
                         (struct hlo_build_allocation){.index = 1, .size = 320, .buffers = {101, 102, 103, 104, 105}});
    for (int64_t i = 1; i <= 5; i++) event(f, HLO_EVENT_ALLOC, 100 + i, 0);
    hlo_build_end_trace(&f->build.hlo);
    finish(f);
}

static void one_line_gives_way_to_names(void **state) {
    struct fixture *f = *state;
    static const char *const names[] = {"jit(f)/M/h_0/attn/dot", "jit(f)/M/h_1/attn/dot", "jit(f)/M/h_2/attn/add",
                                        "jit(f)/M/h_0/mlp/dot", "jit(f)/M/h_1/mlp/dot"};
    build_one_line(f, names);
    struct memory_grouping grouping;
    assert_true(memory_grouping_make(&f->view, &f->sources, GROUP_BY_SOURCE, &f->arena, &grouping, &f->error));
    assert_int_equal(grouping.rule, GROUP_RULE_NAMES);
    struct memory_groups groups = groups_at(f, GROUP_BY_SOURCE, 4);
    check_row(&groups, 0, "M/h_*/attn", 192, 3);
    check_row(&groups, 1, "M/h_*/mlp", 128, 2);
}

static void one_line_stays_where_names_say_no_more(void **state) {
    struct fixture *f = *state;
    static const char *const names[] = {"jit(f)/M/a", "jit(f)/M/a", "jit(f)/M/b", "jit(f)/M/c", "jit(f)/M/d"};
    build_one_line(f, names);
    struct memory_groups groups = groups_at(f, GROUP_BY_SOURCE, 4);
    check_row(&groups, 0, "model.py:1", 320, 5);
}

// --- Every step of the profiles and dumps ---

struct seen {
    uint32_t programs, steps;
};

static int64_t weight_of(enum memory_group_weight weight, const struct memory_group *group) {
    return weight == GROUP_WEIGHT_PADDING           ? group->padding_bytes
           : weight == GROUP_WEIGHT_SIZE_X_LIFETIME ? group->size_x_lifetime
                                                    : group->size_bytes;
}

static bool comes_before(enum memory_group_weight weight, const struct memory_group *a, const struct memory_group *b) {
    if (weight_of(weight, a) != weight_of(weight, b)) return weight_of(weight, a) > weight_of(weight, b);
    return a->size_bytes > b->size_bytes || (a->size_bytes == b->size_bytes && bytes_compare(a->key, b->key) < 0);
}

// Whatever they are weighed by: the rows are the same, in another order.
static void check_groups(const struct memory_grouping *grouping, const struct memory_groups *groups) {
    const struct memory_view *view = grouping->view;
    int64_t size = 0, expected = view->indefinite_bytes;
    double shares = 0;
    if (view->has_simulation) expected += view->replay.heap_bytes[groups->step + 1];
    for (uint32_t i = 0; i < groups->row_count; i++) {
        const struct memory_group *row = &groups->rows[i];
        assert_true(row->key.size > 0 && row->buffers > 0 && row->size_bytes >= 0);
        assert_true(row->padding_bytes >= 0 && row->padding_bytes <= row->size_bytes);
        assert_true(i == 0 || comes_before(groups->weight, &row[-1], row));
        shares += memory_group_share(groups, row);
        int64_t members = 0;
        for (uint32_t m = 0; m < row->buffers; m++) {
            const struct memory_buffer *member = &view->rows[groups->members[row->first_member + m]];
            assert_true(member->start_step <= groups->step);
            members += member->size_bytes;
        }
        assert_int_equal(members, row->size_bytes);
        size += row->size_bytes;
    }
    assert_int_equal(size, expected);
    assert_int_equal(groups->live_bytes, expected);
    assert_true(fabs(shares - 1) < 1e-9 || (shares == 0 && groups->whole_weight == 0));
    if (groups->step == memory_groups_peak_step(view)) assert_int_equal(size, view->peak_bytes);
}

// What the page draws the curves of groups from: each row holds its size from its first to its last step.
static void check_rows(struct fixture *f) {
    const struct memory_view *view = &f->view;
    uint32_t steps = memory_groups_last_step(view) + 1;
    int64_t *change = arena_new(&f->arena, int64_t, steps), live = 0;
    for (uint32_t i = 0; i < view->row_count; i++) {
        const struct memory_buffer *row = &view->rows[i];
        bool is_indefinite = i < view->indefinite_row_count;
        change[is_indefinite ? 0 : row->start_step] += row->size_bytes;
        if (!is_indefinite && row->end_step < steps) change[row->end_step] -= row->size_bytes;
    }
    for (uint32_t step = 0; step < steps; step++) {
        live += change[step];
        assert_int_equal(live, view->indefinite_bytes + (view->has_simulation ? view->replay.heap_bytes[step + 1] : 0));
    }
}

static void check_text(struct bytes is, struct bytes expected) {
    assert_true(bytes_equal(is, expected));
}

// What is kept without the program answers as the program does.
static void check_kept(const struct memory_grouping *grouping, const struct buffer_sources *sources,
                       const struct group_steps *steps, const struct memory_groups *groups, struct arena *arena) {
    struct memory_groups kept;
    struct group_facts *facts;
    struct error error;
    assert_true(group_steps_at(steps, groups->step, groups->weight, arena, &kept, &facts, &error));
    assert_int_equal(kept.row_count, groups->row_count);
    assert_int_equal(kept.unknown_bytes, groups->unknown_bytes);
    assert_int_equal(kept.member_count, groups->member_count);
    assert_memory_equal(kept.members, groups->members, kept.member_count * sizeof *kept.members);
    for (uint32_t i = 0; i < kept.row_count; i++) {
        const struct memory_group *row = &groups->rows[i];
        check_text(kept.rows[i].key, row->key);
        assert_int_equal(kept.rows[i].size_bytes, row->size_bytes);
        assert_int_equal(kept.rows[i].padding_bytes, row->padding_bytes);
        assert_int_equal(kept.rows[i].size_x_lifetime, row->size_x_lifetime);
        assert_int_equal(kept.rows[i].first_member, row->first_member);
        struct group_facts expected = group_facts_of(grouping, sources, groups, i, arena);
        check_text(facts[i].about, expected.about);
        check_text(facts[i].place, expected.place);
        check_text(facts[i].evidence, expected.evidence);
        assert_int_equal(facts[i].rule, expected.rule);
    }
}

static void check_view(struct fixture *f, struct seen *seen) {
    struct memory_groups groups;
    check_rows(f);
    for (int by = 0; by < GROUP_BY_COUNT; by++) {
        struct memory_grouping grouping;
        assert_true(
            memory_grouping_make(&f->view, &f->sources, (enum memory_group_by)by, &f->arena, &grouping, &f->error));
        struct group_steps steps;
        assert_true(group_steps_make(&grouping, &f->sources, &f->arena, &steps, &f->error));
        assert_int_equal(steps.last_step, memory_groups_last_step(&f->view));
        for (uint32_t step = 0; step <= steps.last_step; step++, seen->steps++) {
            struct arena scratch;
            arena_init(&scratch, 0);
            assert_true(memory_groups_at(&grouping, step, &scratch, &groups, &f->error));
            for (int weight = 0; weight < GROUP_WEIGHT_COUNT; weight++) {
                memory_groups_weigh(&groups, (enum memory_group_weight)weight);
                check_groups(&grouping, &groups);
            }
            check_kept(&grouping, &f->sources, &steps, &groups, &scratch);
            arena_free(&scratch);
        }
    }
}

static void check_program(const struct input_file *file, const struct xspace_program *program,
                          struct byte_source *source, void *context) {
    struct seen *seen = context;
    struct fixture f = {0};
    struct memory_totals_list totals;
    arena_init(&f.arena, 0);
    assert_true(program_load(file, program, source, &f.arena, &f.module, &f.error));
    assert_true(memory_totals_list(&f.module, &f.arena, &totals, &f.error));
    assert_true(buffer_sources_read(&f.module, FRAMEWORKS_DEFAULT, &f.arena, &f.sources, &f.error));
    for (size_t i = 0; i < totals.space_count; i++) {
        assert_true(
            memory_view_build(&f.module, totals.spaces[i].space, MEMORY_VIEW_EXACT, &f.arena, &f.view, &f.error));
        check_view(&f, seen);
    }
    seen->programs++;
    arena_free(&f.arena);
}

static void every_step_of_profiles_and_dumps_sums_to_its_curve(void **state) {
    (void)state;
    static const char *const roots[] = {"tests/fixtures/logdir", "tests/fixtures/xla_dump", "tests/fixtures/compare"};
    struct seen seen = {0};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        uint32_t before = seen.programs;
        fixture_programs_visit(roots[i], check_program, &seen);
        assert_true(seen.programs > before);
    }
    assert_true(seen.programs > 25 && seen.steps > 10000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_and_arguments_in_one_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_way_to_group, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_simulation_there_is_one_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(weights, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shared_bytes_count_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_clone_after_the_turn_is_computed_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(readers_are_seen_through_prefetches_and_as_whole_fusions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_line_gives_way_to_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_line_stays_where_names_say_no_more, set_up, tear_down),
        cmocka_unit_test(every_step_of_profiles_and_dumps_sums_to_its_curve),
    };
    return cmocka_run_group_tests_name("memory_groups", tests, NULL, NULL);
}
