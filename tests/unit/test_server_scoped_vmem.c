#define _GNU_SOURCE  // mempcpy
#include "server/store/scoped_vmem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/unit/cmocka_all.h"
#include "tests/unit/hlo_build.h"

static void add_instruction(struct hlo_build *b, int64_t id, const char *name, const char *config) {
    struct wire_build instruction = {0};
    wire_build_text(&instruction, HLO_INSTRUCTION_NAME, name);
    wire_build_varint(&instruction, HLO_INSTRUCTION_ID, (uint64_t)id);
    wire_build_text(&instruction, HLO_INSTRUCTION_BACKEND_CONFIG, config);
    wire_build_message(&b->computation, HLO_COMPUTATION_INSTRUCTIONS, &instruction);
}

static const struct hlo_module *load(struct hlo_build *b) {
    static struct arena arena;
    static struct hlo_module module;
    struct error error;
    arena_free(&arena);
    arena_init(&arena, 0);
    assert_true(hlo_module_load(hlo_build_finish(b), &arena, &module, &error));
    return &module;
}

static struct scoped_vmem find(struct hlo_build *b, int64_t space) {
    return scoped_vmem_find(load(b), space);
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

static long peak_kib(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void check(const char *config, int64_t bytes) {
    struct hlo_build b = {0};
    add_instruction(&b, 1, "only", config);
    assert_int_equal(find(&b, 1).bytes, bytes);
    hlo_build_free(&b);
}

#define LIST(entries) "\"used_scoped_memory_configs\":" entries
#define TAKES_5 "{\"memory_space\":1,\"size\":5}"

static void what_stands_around_it_is_stepped_over(void **state) {
    (void)state;
    check("{" LIST("[" TAKES_5 "]") "}", 5);
    check(" { \"a\" : [ { } , 1e5 ] , " LIST("[ {\"size\" : 5 , \"memory_space\" :1 } , 7 ]") " , \"b\":null } ", 5);
    check("{\"a\":\"\\\"}]\\\\\"," LIST("[" TAKES_5 "]") "}", 5);
    check("{" LIST("[{\"size\":9,\"memory_space\":1}]") "," LIST("[" TAKES_5 "]") "}", 5);  // the last one counts
    check("{\"a\":{" LIST("[" TAKES_5 "]") "}}", 0);
    check("[" LIST("[" TAKES_5 "]") "]", 0);
    check("{\"a\":\""
          "{used_scoped_memory_configs"
          "\"}",
          0);
    check("{" LIST(TAKES_5) "}", 0);
    check("{" LIST("[" TAKES_5 "]") "}}", 0);
    check("{" LIST("[" TAKES_5 "]") ",", 0);
    check("{" LIST("[" TAKES_5 "") "", 0);
    check("{" LIST("[{\"memory_space\":1,\"size\":5000000000000000000000000000000000000000}]") "}", 0);
    check("{" LIST("[{\"memory_space\":1,\"size\":99999999999999999999}]") "}", 0);
    check("{" LIST("[{\"memory_space\":1,\"size\":\"}]") "}", 0);
    check("{" LIST("[{\"memory_space\":1,\"size\":\"\"}]") "}", 0);
}

// As a tree it takes a gigabyte.
static void a_huge_one_takes_no_memory(void **state) {
    (void)state;
    enum { COUNT = 4000000 };
    static const char head[] = "{" LIST("["), tail[] = TAKES_5 "]}";
    char *config = malloc(sizeof head + 3 * (size_t)COUNT + sizeof tail), *at = config;
    assert_non_null(config);
    at = mempcpy(at, head, sizeof head - 1);
    for (size_t i = 0; i < COUNT; i++) at = mempcpy(at, "{},", 3);
    memcpy(at, tail, sizeof tail);
    struct hlo_build b = {0};
    add_instruction(&b, 1, "huge", config);
    free(config);
    const struct hlo_module *module = load(&b);
    long before = peak_kib();
    assert_int_equal(scoped_vmem_find(module, 1).bytes, 5);
    assert_in_range(peak_kib() - before, 0, 64 << 10);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_vmem_reservation_counts), cmocka_unit_test(what_stands_around_it_is_stepped_over),
        cmocka_unit_test(a_huge_one_takes_no_memory), cmocka_unit_test(other_memory_spaces_have_none)};
    return cmocka_run_group_tests_name("scoped_vmem", tests, NULL, NULL);
}
