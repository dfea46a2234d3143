// Any bytes as an HloProto: every document that is written of it is JSON, and the overview's parts make the whole.
//
//     make fuzz T=server_documents
#include <assert.h>
#include <jansson.h>

#include "analysis/hlo/hlo_load.h"
#include "analysis/memory/curve_samples.h"
#include "analysis/memory/peak_summary.h"
#include "server/xprof/allocation_timeline.h"
#include "server/document/buffer_json.h"
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
    }
    arena_free(&arena);
    return 0;
}
