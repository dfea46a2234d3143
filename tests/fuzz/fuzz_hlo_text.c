// Any bytes as the texts of a dump: loading ends in a module that can be looked at, or in an error inside a text.
//
//     the four texts one after another, a line "==" between them: assignment, program, values, live range
//
//     make fuzz T=hlo_text
#include <assert.h>
#include <stddef.h>

#include "analysis/hlo/hlo_text.h"
#include "analysis/memory/buffer_description.h"
#include "analysis/memory/memory_summary.h"
#include "analysis/memory/memory_view.h"
#include "analysis/memory/usage_report.h"

enum { ARENA_LIMIT_BYTES = 64 << 20, SPACES_LOOKED_AT = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Cuts the text up to the next separator off.
static struct hlo_text_file next_text(struct bytes *rest, const char *path) {
    static const char separator[] = "\n==\n";
    size_t at = 0, length = sizeof separator - 1;
    while (at + length <= rest->size && memcmp(rest->data + at, separator, length) != 0) at++;
    bool has_more = at + length <= rest->size;
    struct hlo_text_file file = {path, {rest->data, has_more ? at + 1 : rest->size}};
    size_t skipped = has_more ? at + length : rest->size;
    *rest = (struct bytes){rest->data + skipped, rest->size - skipped};
    if (file.text.size == 0) file.path = NULL;
    return file;
}

static void check_error(const struct error *error, size_t size) {
    assert(error->code != ERROR_NONE && error->message[0]);
    assert(error->offset >= -1 && error->offset <= (int64_t)size);
}

static void look_at(const struct hlo_module *module, int64_t space, enum memory_view_scope scope) {
    struct arena arena;
    struct memory_view view;
    struct buffer_describer describer;
    struct error error = {0};
    arena_init(&arena, ARENA_LIMIT_BYTES);
    bool is_built = memory_view_build(module, space, scope, &arena, &view, &error) &&
                    buffer_describer_init(&describer, module, scope, &arena);
    for (uint32_t i = 0; is_built && i < view.row_count; i++) {
        assert(view.rows[i].start_step <= view.rows[i].end_step);
        (void)buffer_describe(&describer, view.rows[i].buffer);
    }
    arena_free(&arena);
}

// What is written must be read again: values are buffers, none is lost.
static void check_module(const struct hlo_module *module, struct arena *arena) {
    struct memory_summary_list list;
    struct error error = {0};
    for (uint32_t i = 0; i < module->assigned_count; i++) {
        assert(module->assigned[i].buffer != HLO_NONE);
        assert(module->assigned[i].offset >= 0 && module->assigned[i].size_bytes >= 0);
    }
    for (uint32_t i = 0; i < module->buffer_count; i++) assert(module->buffers[i].instruction != HLO_NONE);
    for (uint32_t i = 0; i < module->event_count; i++) assert(module->events[i].buffer != HLO_NONE);
    if (!memory_summaries(module, arena, &list, &error)) return;
    for (size_t i = 0; i < list.count && i < SPACES_LOOKED_AT; i++) {
        look_at(module, list.summaries[i].space, MEMORY_VIEW_EXACT);
        look_at(module, list.summaries[i].space, MEMORY_VIEW_AS_XPROF);
    }
}

static void read_reports(struct bytes text, struct arena *arena) {
    struct usage_report report;
    struct error error = {0};
    if (!usage_report_of_text(text, arena, &report, &error)) check_error(&error, text.size);
    if (!usage_report_of_proto(text, arena, &report, &error)) check_error(&error, text.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes rest = {data, size};
    struct arena arena;
    struct hlo_module module;
    struct hlo_text texts;
    struct error error = {0};
    arena_init(&arena, ARENA_LIMIT_BYTES);
    texts.assignment = next_text(&rest, "assignment");
    texts.assignment.path = "assignment";
    texts.program = next_text(&rest, "program");
    texts.values = next_text(&rest, "values");
    texts.live_range = next_text(&rest, "live range");
    if (hlo_text_load(&texts, &arena, &module, &error))
        check_module(&module, &arena);
    else
        check_error(&error, size);
    read_reports((struct bytes){data, size}, &arena);
    arena_free(&arena);
    return 0;
}
