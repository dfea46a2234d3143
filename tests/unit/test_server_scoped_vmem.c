#include "server/store/scoped_vmem.h"

#include "tests/unit/cmocka_all.h"
#include "tests/unit/hlo_build.h"

static void add_instruction(struct hlo_build *b, int64_t id, const char *name, const char *config) {
    struct wire_build instruction = {0};
    wire_build_text(&instruction, HLO_INSTRUCTION_NAME, name);
    wire_build_varint(&instruction, HLO_INSTRUCTION_ID, (uint64_t)id);
    wire_build_text(&instruction, HLO_INSTRUCTION_BACKEND_CONFIG, config);
    wire_build_message(&b->computation, HLO_COMPUTATION_INSTRUCTIONS, &instruction);
}

static struct scoped_vmem find(struct hlo_build *b, int64_t space) {
    static struct arena arena;
    struct hlo_module module;
    struct error error;
    arena_free(&arena);
    arena_init(&arena, 0);
    assert_true(hlo_module_load(hlo_build_finish(b), &arena, &module, &error));
    return scoped_vmem_find(&module, space);
}

static void the_largest_vmem_reservation_counts(void **state) {
    (void)state;
    struct hlo_build b = {0};
    add_instruction(&b, 1, "none", "{\"used_scoped_memory_configs\":[]}");
    add_instruction(&b, 2, "text", "{\"used_scoped_memory_configs\":[{\"memory_space\":\"1\",\"size\":\"4096\"}]}");
    add_instruction(&b, 3, "number",
                    "{\"used_scoped_memory_configs\":[{\"memory_space\":1,\"size\":8192},"
                    "{\"memory_space\":0,\"size\":999999}]}");
    add_instruction(&b, 4, "broken", "{\"used_scoped_memory_configs\":[{\"memory_space\":1,\"size\":99999}");
    add_instruction(&b, 5, "strange", "{\"used_scoped_memory_configs\":[7,{\"memory_space\":1,\"size\":\"12x\"}]}");
    struct scoped_vmem found = find(&b, 1);
    assert_int_equal(found.bytes, 8192);
    assert_true(bytes_equal(found.instruction, BYTES("number")));
    hlo_build_free(&b);
}

static void other_memory_spaces_have_none(void **state) {
    (void)state;
    struct hlo_build b = {0};
    add_instruction(&b, 2, "text", "{\"used_scoped_memory_configs\":[{\"memory_space\":\"1\",\"size\":\"4096\"}]}");
    assert_int_equal(find(&b, 0).bytes, 0);
    hlo_build_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_largest_vmem_reservation_counts),
                                       cmocka_unit_test(other_memory_spaces_have_none)};
    return cmocka_run_group_tests_name("scoped_vmem", tests, NULL, NULL);
}
