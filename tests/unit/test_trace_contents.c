// What a trace holds besides programs: told from names and the stats of its planes, in whatever order they stand.
#include "analysis/input/trace_contents.h"

#include "analysis/input/xspace_read.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/xspace_build.h"

enum { MEMORY_SIZE = 7, DEVICE_TYPE = 8, TYPE_NAME = 9 };

static struct trace_contents read_space(struct wire_build *space, struct arena *arena) {
    struct error error;
    struct xspace_index index;
    struct trace_contents contents;
    struct byte_source *source = byte_source_of_memory(wire_build_view(space), "x.xplane.pb", &error);
    assert_non_null(source);
    (void)!xspace_index_read(source, arena, &index, &error);
    assert_true(trace_contents_read(source, &index, arena, &contents, &error));
    byte_source_close(source);
    wire_build_free(space);
    return contents;
}

static void add_stat(struct wire_build *plane, uint64_t id, uint32_t field, uint64_t number, const char *text) {
    struct wire_build stat = {0};
    wire_build_varint(&stat, XSTAT_METADATA_ID, id);
    if (text)
        wire_build_text(&stat, field, text);
    else
        wire_build_varint(&stat, field, number);
    wire_build_message(plane, XPLANE_STATS, &stat);
}

static void add_event_name(struct wire_build *plane, uint64_t id, const char *name) {
    struct wire_build event = {0};
    wire_build_varint(&event, XEVENT_METADATA_ENTRY_ID, id);
    wire_build_text(&event, XEVENT_METADATA_NAME, name);
    xspace_build_event_entry(plane, id, &event);
}

static void devices_say_what_they_are_or_have(void **state) {
    (void)state;
    struct arena arena;
    struct wire_build space = {0}, gpu = {0}, tpu = {0}, other = {0}, host = {0};
    arena_init(&arena, 0);
    wire_build_text(&gpu, XPLANE_NAME, "/device:GPU:0");
    add_stat(&gpu, MEMORY_SIZE, XSTAT_UINT64_VALUE, 16945512448u, NULL);  // before its name
    xspace_build_stat_name(&gpu, MEMORY_SIZE, "memory_size");
    wire_build_text(&tpu, XPLANE_NAME, "/device:TPU:1");
    xspace_build_stat_name(&tpu, DEVICE_TYPE, "device_type_string");
    xspace_build_stat_name(&tpu, TYPE_NAME, "TPU v5 Lite");
    add_stat(&tpu, DEVICE_TYPE, XSTAT_REF_VALUE, TYPE_NAME, NULL);
    wire_build_text(&other, XPLANE_NAME, "/device:TPU:2");
    wire_build_text(&host, XPLANE_NAME, "/host:CPU");
    add_event_name(&host, 1, "MatMul");
    wire_build_message(&space, XSPACE_PLANES, &gpu);
    wire_build_message(&space, XSPACE_PLANES, &tpu);
    wire_build_message(&space, XSPACE_PLANES, &other);
    wire_build_message(&space, XSPACE_PLANES, &host);
    struct trace_contents contents = read_space(&space, &arena);
    assert_int_equal(contents.device_count, 2);
    assert_true(bytes_equal(contents.devices[0].plane, BYTES("/device:GPU:0")));
    assert_int_equal(contents.devices[0].memory_bytes, 16945512448);
    assert_true(bytes_equal(contents.devices[1].type, BYTES("TPU v5 Lite")));
    assert_int_equal(contents.devices[1].memory_bytes, 0);
    assert_false(contents.has_memory_events);
    arena_free(&arena);
}

static void a_type_may_be_a_text_of_its_own(void **state) {
    (void)state;
    struct arena arena;
    struct wire_build space = {0}, tpu = {0};
    arena_init(&arena, 0);
    wire_build_text(&tpu, XPLANE_NAME, "/device:TPU:0");
    xspace_build_stat_name(&tpu, DEVICE_TYPE, "device_type_string");
    add_stat(&tpu, DEVICE_TYPE, XSTAT_STR_VALUE, 0, "TPU v4");
    wire_build_message(&space, XSPACE_PLANES, &tpu);
    struct trace_contents contents = read_space(&space, &arena);
    assert_int_equal(contents.device_count, 1);
    assert_true(bytes_equal(contents.devices[0].type, BYTES("TPU v4")));
    arena_free(&arena);
}

static void memory_events_are_named_by_the_host_alone(void **state) {
    (void)state;
    struct arena arena;
    struct wire_build space = {0}, other = {0}, host = {0}, alone = {0}, device = {0};
    arena_init(&arena, 0);
    wire_build_text(&device, XPLANE_NAME, "/device:GPU:0");
    add_event_name(&device, 1, "MemoryAllocation");
    wire_build_message(&alone, XSPACE_PLANES, &device);
    assert_false(read_space(&alone, &arena).has_memory_events);
    wire_build_text(&other, XPLANE_NAME, "/host:metadata");
    wire_build_text(&host, XPLANE_NAME, "/host:CPU");
    add_event_name(&host, 4, "MemoryDeallocation");
    wire_build_message(&space, XSPACE_PLANES, &other);
    wire_build_message(&space, XSPACE_PLANES, &host);
    assert_true(read_space(&space, &arena).has_memory_events);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_say_what_they_are_or_have),
        cmocka_unit_test(a_type_may_be_a_text_of_its_own),
        cmocka_unit_test(memory_events_are_named_by_the_host_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
