// Any bytes as an HloProto: every document that is written of it is JSON.
//
//     make fuzz T=server_documents
#include <assert.h>
#include <jansson.h>

#include "analysis/hlo/hlo_load.h"
#include "server/xprof/allocation_timeline.h"
#include "server/document/buffer_json.h"
#include "server/document/memory_view_json.h"
#include "server/xprof/xprof_memory_viewer.h"

enum { ARENA_LIMIT_BYTES = 64 << 20, OUTPUT_BYTES = 64 << 20, BUFFERS_LOOKED_AT = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_json(const struct output *output, bool is_written) {
    if (!is_written || output->failed) return;
    json_t *document = json_loadb(output->data, output->size, JSON_ALLOW_NUL, NULL);
    assert(document);
    json_decref(document);
}

static void write_exact(const struct memory_view *view, struct arena *arena) {
    struct error error;
    struct output output;
    output_init(&output, OUTPUT_BYTES);
    struct json_writer w = json_writer_on(&output);
    struct memory_view_document document = {
        .session = "s", .host = "h", .module = "m", .view = view, .xprof_reason = "none"};
    check_json(&output, memory_view_json_write(&document, arena, &w, &error));
    output_free(&output);
    for (uint32_t i = 0; i < view->module->buffer_count && i < BUFFERS_LOOKED_AT; i++) {
        output_init(&output, OUTPUT_BYTES);
        w = json_writer_on(&output);
        check_json(&output, buffer_json_write(view, i, arena, &w, &error));
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
