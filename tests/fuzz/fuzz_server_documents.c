// Any bytes as an HloProto: every document that is written of one program is JSON (its memory, who holds it, what
// differs between its memories, advice), and the overview's parts make the whole. Texts are made too.
//
//     make fuzz T=server_documents
#include <assert.h>
#include <jansson.h>

#include "analysis/groups/frameworks.h"
#include "analysis/hlo/hlo_load.h"
#include "analysis/memory/curve_samples.h"
#include "analysis/memory/peak_summary.h"
#include "server/xprof/allocation_timeline.h"
#include "server/document/advice_document.h"
#include "server/document/buffer_json.h"
#include "server/document/diff_document.h"
#include "server/document/groups_json.h"
#include "server/document/memory_overview_json.h"
#include "server/xprof/xprof_memory_viewer.h"

enum { ARENA_LIMIT_BYTES = 64 << 20, OUTPUT_BYTES = 64 << 20, BUFFERS_LOOKED_AT = 4, COLUMNS = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_json(const struct output *output, bool is_written) {
    if (!is_written || output->failed) return;
    json_t *document = json_loadb(output->data, output->size, JSON_ALLOW_NUL, NULL);
    assert(document);
    json_decref(document);
}

typedef bool write_document(const struct memory_view_document *document, struct arena *arena, struct json_writer *w,
                            struct error *error);

static bool write_overview(const struct memory_view_document *document, struct arena *arena, struct json_writer *w,
                           struct error *error) {
    return memory_overview_json_write(document, COLUMNS, arena, w, error);
}

static void check_document(write_document *write, const struct memory_view_document *document, struct arena *arena) {
    struct error error;
    struct output output;
    output_init(&output, OUTPUT_BYTES);
    struct json_writer w = json_writer_on(&output);
    check_json(&output, write(document, arena, &w, &error));
    output_free(&output);
}

// No peak is lost, and steps come in order.
static void check_curve(const struct memory_view *view, struct arena *arena) {
    struct curve_samples curve;
    if (!curve_samples_make(view, COLUMNS, arena, &curve) || !view->has_simulation) return;
    int64_t highest = INT64_MIN, sampled = INT64_MIN;
    for (uint32_t i = 0; i <= view->replay.step_count; i++)
        if (view->replay.heap_bytes[i] > highest) highest = view->replay.heap_bytes[i];
    for (uint32_t i = 0; i < curve.count; i++) {
        assert(i == 0 || curve.steps[i - 1] <= curve.steps[i]);
        assert(curve.steps[i] <= view->replay.step_count);
        if (curve.heap_bytes[i] > sampled) sampled = curve.heap_bytes[i];
    }
    assert(sampled == highest + view->indefinite_bytes);
}

static void check_peak(const struct memory_view *view, struct arena *arena) {
    struct peak_summary peak;
    if (!peak_summary_make(view, BUFFERS_LOOKED_AT, arena, &peak)) return;
    uint32_t buffers = 0;
    for (int i = 0; i < ALLOCATION_CATEGORY_COUNT; i++) buffers += peak.categories[i].buffers;
    assert(buffers == view->at_peak_count && buffers == peak.total.buffers);
    for (uint32_t i = 1; i < peak.largest_count; i++)
        assert(view->rows[peak.largest[i - 1]].size_bytes >= view->rows[peak.largest[i]].size_bytes);
}

static void write_exact(const struct memory_view *view, struct arena *arena) {
    struct memory_view_document document = {
        .session = "s", .host = "h", .module = "m", .view = view, .xprof_reason = "none"};
    check_document(memory_view_json_write, &document, arena);
    check_document(write_overview, &document, arena);
    document.as_differences = true;
    check_document(memory_view_json_write, &document, arena);
    check_curve(view, arena);
    check_peak(view, arena);
    struct buffer_teller teller;
    struct error error;
    if (!buffer_teller_init(&teller, view, arena, &error)) return;
    for (uint32_t i = 0; i < view->module->buffer_count && i < BUFFERS_LOOKED_AT; i++) {
        struct output output;
        output_init(&output, OUTPUT_BYTES);
        struct json_writer w = json_writer_on(&output);
        check_json(&output, buffer_json_write(&teller, i, buffer_row_of(view, i), &w, &error));
        output_free(&output);
    }
}

static void write_xprof(const struct memory_view *view, struct arena *arena) {
    struct error error;
    struct output output;
    output_init(&output, OUTPUT_BYTES);
    struct json_writer w = json_writer_on(&output);
    struct scoped_vmem scoped_vmem = scoped_vmem_find(view->module, 1);
    check_json(&output, xprof_memory_viewer_write(view, scoped_vmem, arena, &w, &error));
    output_free(&output);
    output_init(&output, OUTPUT_BYTES);
    assert(allocation_timeline_write(view, "m", arena, &output, &error) || error.code == ERROR_TOO_BIG);
    output_free(&output);
}

// --- Who holds it ---

static void write_columns(const struct group_steps *steps, const struct memory_groups *groups, struct arena *arena,
                          struct json_writer *w) {
    struct group_row *rows = arena_new(arena, struct group_row, groups->row_count + 1);
    for (uint32_t i = 0; rows && i < groups->row_count; i++) rows[i] = group_row_of(groups, i);
    if (rows) groups_json_write_columns(steps, groups, rows, w);
}

static void write_groups(const struct memory_view *view, const struct buffer_sources *sources, int by,
                         struct arena *arena) {
    struct memory_grouping grouping;
    struct memory_groups groups;
    struct group_steps steps;
    struct error error;
    if (!memory_grouping_make(view, sources, (enum memory_group_by)by, arena, &grouping, &error)) return;
    if (!memory_groups_at(&grouping, memory_groups_last_step(view), arena, &groups, &error)) return;
    if (!group_steps_make(&grouping, sources, arena, &steps, &error)) return;
    struct output output;
    output_init(&output, OUTPUT_BYTES);
    struct json_writer w = json_writer_on(&output);
    json_open_array(&w);
    groups_json_write(&grouping, &groups, groups.row_count / 2, &w);
    json_open_object(&w);
    write_columns(&steps, &groups, arena, &w);
    json_close_object(&w);
    json_open_object(&w);
    groups_json_write_keys(&steps, &w);
    json_close_object(&w);
    json_close_array(&w);
    check_json(&output, true);
    output_free(&output);
}

// --- What differs ---

static void write_diff(const struct compared_side *a, const struct compared_side *b, struct arena *arena) {
    struct memory_diff diff;
    struct error error;
    if (!memory_diff_make(a, b, GROUP_BY_SOURCE, arena, &diff, &error)) return;
    struct diff_program program = {"s", "h", BYTES("m")};
    struct diff_document document = {
        .diff = &diff, .a = program, .b = program, .top = DIFF_ALL, .limit_bytes = DIFF_NO_LIMIT};
    struct output output;
    output_init(&output, OUTPUT_BYTES);
    struct json_writer w = json_writer_on(&output);
    json_open_object(&w);
    diff_json_write(&document, arena, &w);
    json_close_object(&w);
    check_json(&output, true);
    output_free(&output);
    output_init(&output, OUTPUT_BYTES);
    struct page page = {.output = &output, .arena = arena, .width = PAGE_WIDTH};
    diff_text_write(&document, &page);
    output_free(&output);
}

// The program's first memory and its last.
static void write_memories(const struct hlo_module *module, const struct memory_totals_list *spaces,
                           struct arena *arena) {
    struct memory_view first, last;
    struct buffer_sources sources;
    struct error error;
    if (spaces->space_count == 0 || !buffer_sources_read(module, FRAMEWORKS_DEFAULT, arena, &sources, &error)) return;
    int64_t last_space = spaces->spaces[spaces->space_count - 1].space;
    if (!memory_view_build(module, spaces->spaces[0].space, MEMORY_VIEW_EXACT, arena, &first, &error)) return;
    for (int by = 0; by < GROUP_BY_COUNT; by++) write_groups(&first, &sources, by, arena);
    if (!memory_view_build(module, last_space, MEMORY_VIEW_EXACT, arena, &last, &error)) return;
    write_diff(&(struct compared_side){&first, &sources}, &(struct compared_side){&last, &sources}, arena);
}

// --- Advice ---

static void write_advice(const struct hlo_module *module, int64_t capacity_bytes, struct arena *arena) {
    struct advice advice;
    struct advice_request request = {.ways = ADVICE_WAYS_DEFAULT, .capacity_bytes = capacity_bytes};
    struct error error;
    if (!advice_make(module, &request, arena, &advice, &error)) return;
    struct advice_document document = {&advice, "s", "h", "m"};
    struct output output;
    output_init(&output, OUTPUT_BYTES);
    struct json_writer w = json_writer_on(&output);
    advice_json_write(&document, &w);
    check_json(&output, true);
    output_free(&output);
    for (int is_markdown = 0; is_markdown < 2; is_markdown++) {
        output_init(&output, OUTPUT_BYTES);
        advice_text_write(&document, is_markdown, arena, &output);
        output_free(&output);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct hlo_module module;
    struct memory_view view;
    struct error error;
    arena_init(&arena, ARENA_LIMIT_BYTES);
    if (hlo_module_load((struct bytes){data, size}, &arena, &module, &error)) {
        int64_t space = module.allocation_count ? module.allocations[module.allocation_count - 1].color : 0;
        if (memory_view_build(&module, space, MEMORY_VIEW_EXACT, &arena, &view, &error)) write_exact(&view, &arena);
        if (memory_view_build(&module, space, MEMORY_VIEW_AS_XPROF, &arena, &view, &error)) write_xprof(&view, &arena);
        struct memory_totals_list spaces;
        if (memory_totals_list(&module, &arena, &spaces, &error)) {
            write_memories(&module, &spaces, &arena);
            int64_t total = spaces.space_count ? spaces.spaces[0].total_bytes : 0;
            write_advice(&module, total / 2, &arena);
        }
    }
    arena_free(&arena);
    return 0;
}
