// analysis/device_memory: reading pprof, the merged stacks, what is refused.
#include "analysis/device_memory/device_memory_load.h"
#include "analysis/device_memory/device_memory_tree.h"
#include "analysis/device_memory/pprof_load.h"

#include <stdlib.h>

#include "proto/profile.pb-c.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/gzip_bytes.h"
#include "tests/unit/pprof_build.h"

enum { MOST_VALUES = 8 };

struct fixture {
    struct arena arena;
    struct wire_build file;
    struct device_memory_profile profile;
    struct device_memory_tree tree;
    struct error error;
};

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    arena_init(&fixture->arena, 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    arena_free(&fixture->arena);
    wire_build_free(&fixture->file);
    free(fixture);
    return 0;
}

static bool read_file(struct fixture *f, struct bytes content) {
    struct byte_source *source = byte_source_of_memory(content, "memory.prof", &f->error);
    bool is_good = device_memory_profile_read(source, &f->arena, &f->profile, &f->error);
    byte_source_close(source);
    return is_good;
}

static void need(struct fixture *f) {
    if (!read_file(f, wire_build_view(&f->file))) fail_msg("%s", f->error.message);
}

static void need_tree(struct fixture *f, enum device_memory_frames frames) {
    need(f);
    if (!device_memory_tree_build(&f->profile, frames, &f->arena, &f->tree, &f->error))
        fail_msg("%s", f->error.message);
}

static void need_error(struct fixture *f, enum error_code code, const char *words) {
    assert_false(read_file(f, wire_build_view(&f->file)));
    assert_int_equal(f->error.code, code);
    assert_string_equal(f->error.file, "memory.prof");
    if (!strstr(f->error.message, words)) fail_msg("not about '%s': %s", words, f->error.message);
}

// --- Reading ---

static void stacks_are_turned_and_equal_places_are_one(void **state) {
    struct fixture *f = *state;
    put_example(&f->file);
    need(f);
    const struct device_memory_profile *p = &f->profile;
    assert_int_equal(p->sample_count, 4);
    assert_int_equal(p->bytes, 1000);
    assert_int_equal(p->count, 8);
    assert_int_equal(p->frame_count, 1 + 3);  // the one without a name, main, train, ones
    const struct device_memory_sample *first = &p->samples[0], *same = &p->samples[1];
    assert_int_equal(first->depth, 3);
    assert_memory_equal(p->stacks + first->first, p->stacks + same->first, 3 * sizeof *p->stacks);
    const char *const names[] = {"main", "train", "ones"};
    for (int i = 0; i < 3; i++) {
        const struct device_memory_frame *frame = &p->frames[p->stacks[first->first + (uint32_t)i]];
        assert_true(bytes_equal(p->functions[frame->function].name, bytes_of(names[i])));
        assert_int_equal(frame->line, 10 * (i + 1));
        assert_int_equal(p->functions[frame->function].is_library, i == 2);
    }
}

static void groups_are_by_kind_and_device(void **state) {
    struct fixture *f = *state;
    put_example(&f->file);
    need(f);
    static const struct {
        const char *kind, *device;
        int64_t bytes, count;
    } expected[] = {{"buffer", "cpu:0", 400, 2}, {"buffer", "cpu:1", 600, 2}, {"executable", "", 0, 4}};
    assert_int_equal(f->profile.group_count, 3);
    for (int i = 0; i < 3; i++) {
        const struct device_memory_group *group = &f->profile.groups[i];
        assert_true(bytes_equal(group->kind, bytes_of(expected[i].kind)));
        assert_true(bytes_equal(group->device, bytes_of(expected[i].device)));
        assert_int_equal(group->bytes, expected[i].bytes);
        assert_int_equal(group->count, expected[i].count);
    }
    assert_int_equal(f->profile.samples[0].group, 1);
}

static void fields_may_come_in_any_order_and_unpacked(void **state) {
    struct fixture *f = *state;
    struct wire_build sample = {0};
    put_program(&f->file);
    wire_build_varint(&sample, PPROF_SAMPLE_VALUE, 3);
    wire_build_varint(&sample, PPROF_SAMPLE_VALUE, 70);
    wire_build_varint(&sample, PPROF_SAMPLE_LOCATION_ID, 2);
    wire_build_varint(&sample, PPROF_SAMPLE_LOCATION_ID, 1);
    wire_build_varint(&sample, 77, 5);
    wire_build_message(&f->file, PPROF_SAMPLE, &sample);
    put_pair(&f->file, PPROF_SAMPLE_TYPE, ALLOCATIONS, COUNT);
    put_pair(&f->file, PPROF_SAMPLE_TYPE, SPACE, BYTES_UNIT);
    need(f);
    assert_int_equal(f->profile.samples[0].depth, 2);
    assert_int_equal(f->profile.bytes, 70);
    assert_int_equal(f->profile.count, 3);
}

static void gzip_is_inflated(void **state) {
    struct fixture *f = *state;
    put_example(&f->file);
    struct bytes compressed = gzip_bytes(wire_build_view(&f->file));
    assert_true(read_file(f, compressed));
    assert_int_equal(f->profile.bytes, 1000);
    assert_false(read_file(f, (struct bytes){compressed.data, compressed.size / 2}));
    assert_string_equal(f->error.file, "memory.prof");
    gzip_bytes_free(compressed);
}

static void ids_that_name_nothing_are_a_frame_without_a_name(void **state) {
    struct fixture *f = *state;
    put_types(&f->file);
    put_sample(&f->file, UNKNOWN, 1, 5, BUFFER, CPU_0);
    put_location(&f->file, 1, 4711, 3);  // no such function
    put_names(&f->file);
    need_tree(f, DEVICE_MEMORY_ALL_FRAMES);
    assert_int_equal(f->tree.node_count, 3);
    for (int i = 1; i < 3; i++)
        assert_int_equal(f->profile.functions[f->profile.frames[f->tree.nodes[i].frame].function].name.size, 0);
}

static void a_profile_without_samples_is_empty(void **state) {
    struct fixture *f = *state;
    put_types(&f->file);
    put_names(&f->file);
    need_tree(f, DEVICE_MEMORY_ALL_FRAMES);
    assert_int_equal(f->profile.group_count, 0);
    assert_int_equal(f->tree.node_count, 1);
    assert_int_equal(f->tree.top_count, 0);
}

// --- What is refused ---

static void another_measure_is_refused(void **state) {
    struct fixture *f = *state;
    put_pair(&f->file, PPROF_SAMPLE_TYPE, MAIN, COUNT);
    put_program(&f->file);
    need_error(f, ERROR_MALFORMED, "main/count");
}

static void sizes_below_zero_are_refused(void **state) {
    struct fixture *f = *state;
    put_types(&f->file);
    put_sample(&f->file, IN_TRAIN, 1, (uint64_t)-4, BUFFER, CPU_0);
    put_program(&f->file);
    need_error(f, ERROR_MALFORMED, "below zero");
    assert_true(f->error.offset > 0);
}

static void sums_past_63_bits_are_refused(void **state) {
    struct fixture *f = *state;
    put_types(&f->file);
    put_sample(&f->file, IN_TRAIN, 1, INT64_MAX, BUFFER, CPU_0);
    put_sample(&f->file, IN_TRAIN, 1, 1, BUFFER, CPU_1);
    put_program(&f->file);
    need_error(f, ERROR_TOO_BIG, "63 bits");
}

static void a_stack_without_end_is_refused(void **state) {
    struct fixture *f = *state;
    uint64_t *stack = calloc(DEVICE_MEMORY_MAX_DEPTH + 2, sizeof *stack);
    for (size_t i = 0; i <= DEVICE_MEMORY_MAX_DEPTH; i++) stack[i] = 1;
    put_types(&f->file);
    put_sample(&f->file, stack, 1, 1, BUFFER, CPU_0);
    put_program(&f->file);
    free(stack);
    need_error(f, ERROR_TOO_BIG, "one stack");
}

static void cut_files_are_errors(void **state) {
    struct fixture *f = *state;
    put_example(&f->file);
    size_t whole = f->file.size;
    for (size_t size = 0; size < whole; size += 7) {
        f->file.size = size;
        bool is_good = read_file(f, wire_build_view(&f->file));
        if (is_good) assert_true(f->profile.bytes >= 0);  // cut between two names
        if (!is_good) assert_int_equal(f->error.file[0], 'm');
    }
    f->file.size = whole;
}

// --- The tree ---

static void check_node(const struct fixture *f, uint32_t node, const char *name, int64_t parent, int64_t self_bytes,
                       int64_t total_bytes) {
    const struct device_memory_node *n = &f->tree.nodes[node];
    assert_int_equal(n->parent == DEVICE_MEMORY_NONE ? -1 : (int64_t)n->parent, parent);
    if (name) {
        const struct device_memory_function *function = &f->profile.functions[f->profile.frames[n->frame].function];
        assert_true(bytes_equal(function->name, bytes_of(name)));
    }
    assert_int_equal(n->figures.self_bytes, self_bytes);
    assert_int_equal(n->figures.total_bytes, total_bytes);
}

static void stacks_merge_into_a_tree(void **state) {
    struct fixture *f = *state;
    put_example(&f->file);
    need_tree(f, DEVICE_MEMORY_ALL_FRAMES);
    assert_int_equal(f->tree.node_count, 5);
    check_node(f, 0, NULL, -1, 0, 1000);
    check_node(f, 1, "main", 0, 0, 1000);
    check_node(f, 2, "train", 1, 0, 1000);
    check_node(f, 3, "ones", 2, 900, 900);
    check_node(f, 4, "train", 2, 100, 100);
    assert_int_equal(f->tree.nodes[2].figures.self_count, 4);  // the executables
    assert_int_equal(f->tree.nodes[2].figures.total_count, 8);
}

static void parts_add_up_to_their_nodes(void **state) {
    struct fixture *f = *state;
    put_example(&f->file);
    need_tree(f, DEVICE_MEMORY_ALL_FRAMES);
    int64_t total[MOST_VALUES] = {0}, self[MOST_VALUES] = {0};
    for (uint32_t i = 0; i < f->tree.part_count; i++) {
        const struct device_memory_part *part = &f->tree.parts[i];
        total[part->node] += part->figures.total_bytes;
        self[part->node] += part->figures.self_bytes;
        if (i) assert_true(part->node >= part[-1].node);
    }
    for (uint32_t i = 0; i < f->tree.node_count; i++) {
        assert_int_equal(total[i], f->tree.nodes[i].figures.total_bytes);
        assert_int_equal(self[i], f->tree.nodes[i].figures.self_bytes);
    }
}

static void a_function_that_calls_itself_counts_once(void **state) {
    struct fixture *f = *state;
    put_example(&f->file);
    need_tree(f, DEVICE_MEMORY_ALL_FRAMES);
    assert_int_equal(f->tree.top_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct device_memory_top *top = &f->tree.top[i];
        struct bytes name = f->profile.functions[top->function].name;
        bool is_ones = bytes_equal(name, BYTES("ones")), is_train = bytes_equal(name, BYTES("train"));
        assert_int_equal(top->figures.total_bytes, is_ones ? 900 : 1000);
        assert_int_equal(top->figures.self_bytes, is_ones ? 900 : is_train ? 100 : 0);
    }
}

static void library_frames_are_their_callers(void **state) {
    struct fixture *f = *state;
    put_types(&f->file);
    put_sample(&f->file, ONES_IN_TRAIN, 2, 600, BUFFER, CPU_1);
    put_sample(&f->file, ONLY_LIBRARY, 1, 50, BUFFER, CPU_1);
    put_sample(&f->file, NO_STACK, 1, 7, BUFFER, CPU_1);
    put_program(&f->file);
    need_tree(f, DEVICE_MEMORY_OWN_FRAMES);
    assert_int_equal(f->tree.node_count, 4);
    check_node(f, 0, NULL, -1, 7, 657);
    check_node(f, 1, "main", 0, 0, 600);
    check_node(f, 2, "train", 1, 600, 600);
    check_node(f, 3, "ones", 0, 50, 50);
}

static void what_a_library_is(void **state) {
    (void)state;
    const char *const libraries[] = {"/v/lib/python3.11/site-packages/jax/x.py", "/usr/lib/python3/dist-packages/y.py",
                                     "/usr/lib/python3.12/runpy.py", "<frozen importlib._bootstrap>"};
    const char *const own[] = {"", "train.py", "/home/u/site/train.py", "<stdin>", "/home/u/lib/python/z.py"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        assert_true(pprof_is_library(bytes_of(libraries[i])));
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) assert_false(pprof_is_library(bytes_of(own[i])));
}

// --- The schema ---

struct expectation {
    const ProtobufCMessageDescriptor *message;
    const char *field;
    unsigned number;
};

static void every_number_is_the_schemas(void **state) {
    (void)state;
    static const struct expectation expectations[] = {
        {&hbmview__pprof_profile__descriptor, "sample_type", PPROF_SAMPLE_TYPE},
        {&hbmview__pprof_profile__descriptor, "sample", PPROF_SAMPLE},
        {&hbmview__pprof_profile__descriptor, "location", PPROF_LOCATION},
        {&hbmview__pprof_profile__descriptor, "function", PPROF_FUNCTION},
        {&hbmview__pprof_profile__descriptor, "string_table", PPROF_STRING_TABLE},
        {&hbmview__pprof_profile__descriptor, "time_nanos", PPROF_TIME_NANOS},
        {&hbmview__pprof_value_type__descriptor, "type", PPROF_VALUE_TYPE_TYPE},
        {&hbmview__pprof_value_type__descriptor, "unit", PPROF_VALUE_TYPE_UNIT},
        {&hbmview__pprof_sample__descriptor, "location_id", PPROF_SAMPLE_LOCATION_ID},
        {&hbmview__pprof_sample__descriptor, "value", PPROF_SAMPLE_VALUE},
        {&hbmview__pprof_sample__descriptor, "label", PPROF_SAMPLE_LABEL},
        {&hbmview__pprof_label__descriptor, "key", PPROF_LABEL_KEY},
        {&hbmview__pprof_label__descriptor, "str", PPROF_LABEL_STR},
        {&hbmview__pprof_location__descriptor, "id", PPROF_LOCATION_ID},
        {&hbmview__pprof_location__descriptor, "line", PPROF_LOCATION_LINE},
        {&hbmview__pprof_line__descriptor, "function_id", PPROF_LINE_FUNCTION_ID},
        {&hbmview__pprof_line__descriptor, "line", PPROF_LINE_LINE},
        {&hbmview__pprof_function__descriptor, "id", PPROF_FUNCTION_ID},
        {&hbmview__pprof_function__descriptor, "name", PPROF_FUNCTION_NAME},
        {&hbmview__pprof_function__descriptor, "filename", PPROF_FUNCTION_FILENAME},
    };
    for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++) {
        const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field_by_name(expectations[i].message,
                                                                                                expectations[i].field);
        assert_non_null(field);
        assert_int_equal(field->id, expectations[i].number);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(stacks_are_turned_and_equal_places_are_one),
        TEST(groups_are_by_kind_and_device),
        TEST(fields_may_come_in_any_order_and_unpacked),
        TEST(gzip_is_inflated),
        TEST(ids_that_name_nothing_are_a_frame_without_a_name),
        TEST(a_profile_without_samples_is_empty),
        TEST(another_measure_is_refused),
        TEST(sizes_below_zero_are_refused),
        TEST(sums_past_63_bits_are_refused),
        TEST(a_stack_without_end_is_refused),
        TEST(cut_files_are_errors),
        TEST(stacks_merge_into_a_tree),
        TEST(parts_add_up_to_their_nodes),
        TEST(a_function_that_calls_itself_counts_once),
        TEST(library_frames_are_their_callers),
        TEST(what_a_library_is),
        TEST(every_number_is_the_schemas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
