// analysis/memory/usage_report and dump_facts: the compiler's own count, read from both forms, beside ours.
#include "analysis/input/local_storage.h"
#include "analysis/memory/usage_report.h"

#include <stdlib.h>

#include "analysis/memory/dump_facts.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/temp_folder.h"
#include "tests/unit/wire_build.h"

struct fixture {
    struct arena arena;
    struct temp_folder folder;
    struct wire_build proto;
    struct usage_report report;
    struct error error;
};

static void add_space(struct wire_build *proto, int64_t total, int64_t space) {
    struct wire_build entry = {0}, allocation = {0};
    wire_build_varint(&entry, 1, (uint64_t)total);
    if (space) wire_build_varint(&entry, 2, (uint64_t)space);
    wire_build_varint(&allocation, 1, 7);
    wire_build_varint(&allocation, 2, 99);
    wire_build_message(&entry, 3, &allocation);
    wire_build_message(proto, 1, &entry);
}

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    arena_init(&fixture->arena, 0);
    temp_folder_make(&fixture->folder);
    add_space(&fixture->proto, 4799488, 0);
    add_space(&fixture->proto, 8, 2);
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    arena_free(&fixture->arena);
    temp_folder_remove(&fixture->folder);
    wire_build_free(&fixture->proto);
    free(fixture);
    return 0;
}

static void check_report(const struct usage_report *report) {
    assert_int_equal(report->space_count, 2);
    assert_true(report->spaces[0].space == 0 && report->spaces[0].total_bytes == 4799488);
    assert_true(report->spaces[1].space == 2 && report->spaces[1].total_bytes == 8);
}

static void totals_of_the_proto(void **state) {
    struct fixture *f = *state;
    assert_true(usage_report_of_proto(wire_build_view(&f->proto), &f->arena, &f->report, &f->error));
    check_report(&f->report);
    assert_true(usage_report_of_proto(BYTES(""), &f->arena, &f->report, &f->error));
    assert_int_equal(f->report.space_count, 0);
}

static void a_cut_proto_is_damaged(void **state) {
    struct fixture *f = *state;
    struct bytes cut = wire_build_view(&f->proto);
    cut.size--;
    assert_false(usage_report_of_proto(cut, &f->arena, &f->report, &f->error));
    assert_int_equal(f->error.code, ERROR_MALFORMED);
    assert_in_range(f->error.offset, 1, cut.size);
}

#define TEXT                                                                                                           \
    "Memory Space: default (color=0)\nTotal bytes: 4799488 (4.58MiB)\n  cumulative_size;       size;\n  ----\n"        \
    "    1.13MiB(100%);    1.13MiB;            0;                1; s32[2050,129]\n\n"                                 \
    "Memory Space: smem (old) (color=2)\nTotal bytes: 8 (8B)\n"

static void totals_of_the_text(void **state) {
    struct fixture *f = *state;
    assert_true(usage_report_of_text(BYTES(TEXT), &f->arena, &f->report, &f->error));
    check_report(&f->report);
}

static bool text_fails(struct fixture *f, const char *text, int64_t offset) {
    bool is_read = usage_report_of_text(bytes_of(text), &f->arena, &f->report, &f->error);
    return !is_read && f->error.offset == offset;
}

static void wrong_texts(void **state) {
    struct fixture *f = *state;
    assert_true(text_fails(f, "", 0));
    assert_true(text_fails(f, "garbage", 7));
    assert_true(text_fails(f, "Memory Space: a (color=0)\n", 26));
    assert_true(text_fails(f, "\nMemory Space: a\n", 1));
    assert_true(text_fails(f, "Total bytes: 5\n", 0));
    assert_true(text_fails(f, "Memory Space: a (color=0)\nTotal bytes: many\n", 26));
    assert_true(text_fails(f, "Memory Space: a (color=0)\nTotal bytes: 99999999999999999999\n", 26));
}

static struct usage_comparison compare(struct fixture *f, int64_t space, int64_t total, int64_t thread_local_bytes) {
    struct memory_totals totals = {.space = space, .total_bytes = total};
    totals.bytes[ALLOCATION_THREAD_LOCAL] = thread_local_bytes;
    return usage_report_compare(&f->report, &totals);
}

static void comparing_counts_thread_local_ones(void **state) {
    struct fixture *f = *state;
    assert_true(usage_report_of_text(BYTES(TEXT), &f->arena, &f->report, &f->error));
    assert_true(compare(f, 0, 4799000, 488).agrees);
    struct usage_comparison less = compare(f, 0, 4799000, 0), absent = compare(f, 5, 3, 0);
    assert_true(!less.agrees && less.difference_bytes == -488 && less.reported_bytes == 4799488);
    assert_true(!absent.agrees && absent.difference_bytes == 3 && absent.reported_bytes == 0);
    assert_true(compare(f, 5, 0, 0).agrees);
    assert_false(compare(f, 0, INT64_MAX, 5).agrees);
}

static struct dump_facts facts_of(struct fixture *f, enum profile_file_kind kind) {
    struct temp_path path = temp_folder_path(&f->folder, "module_0001.f.after_optimizations.hlo.pb");
    struct input_file file = {.storage = local_storage(), .path = path.text, .kind = kind};
    struct dump_facts facts;
    dump_facts_read(&file, &f->arena, &facts);
    return facts;
}

static void facts_come_from_the_files_beside(void **state) {
    struct fixture *f = *state;
    struct dump_facts none = facts_of(f, PROFILE_FILE_DUMP_PROTO);
    assert_true(!none.has_report && !none.report_path && !none.report_problem && !none.oom_path && !none.is_text);
    temp_folder_write(&f->folder, "module_0001.f.after_optimizations-memory-usage-report.txt", BYTES(TEXT));
    temp_folder_write(&f->folder, "module_0001.f.oom_intermediate_module.txt", BYTES("HloModule f\n"));
    struct dump_facts facts = facts_of(f, PROFILE_FILE_HLO);
    assert_true(facts.has_report && facts.oom_path);
    check_report(&facts.report);
    assert_false(facts_of(f, PROFILE_FILE_XPLANE).has_report);
    temp_folder_write(&f->folder, "module_0001.f.after_optimizations-memory-usage-report.pb", BYTES("\x0a\x7f"));
    struct dump_facts damaged = facts_of(f, PROFILE_FILE_DUMP_PROTO);
    assert_false(damaged.has_report);
    assert_non_null(strstr(damaged.report_problem, "at byte 0"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(totals_of_the_proto, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cut_proto_is_damaged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(totals_of_the_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_texts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(comparing_counts_thread_local_ones, set_up, tear_down),
        cmocka_unit_test_setup_teardown(facts_come_from_the_files_beside, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
