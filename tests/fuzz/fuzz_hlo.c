// Any bytes as an HloProto: loading and every view end in a result or an error, and a result keeps its promises.
//
//     make fuzz T=hlo
#include <assert.h>
#include <stddef.h>

#include "analysis/hlo/hlo_load.h"
#include "analysis/hlo/shape.h"
#include "analysis/memory/buffer_description.h"
#include "analysis/memory/memory_summary.h"
#include "analysis/memory/memory_view.h"

enum { ARENA_LIMIT_BYTES = 64 << 20, SPACES_LOOKED_AT = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const struct error *error, size_t size) {
    assert(error->code != ERROR_NONE && error->message[0]);
    assert(error->offset >= -1 && error->offset <= (int64_t)size);
}

static void check_curve(const struct memory_view *view) {
    const struct heap_replay *replay = &view->replay;
    int64_t highest = 0;
    for (uint32_t i = 0; view->has_simulation && i <= replay->step_count; i++) {
        assert(replay->heap_bytes[i] >= 0);
        if (replay->heap_bytes[i] > highest) highest = replay->heap_bytes[i];
    }
    assert(highest == replay->peak_bytes);
    assert(view->peak_bytes == view->indefinite_bytes + replay->peak_bytes);
    assert(view->padding_bytes >= 0 || view->scope == MEMORY_VIEW_AS_XPROF);
}

static void check_rows(const struct memory_view *view, struct arena *arena) {
    struct buffer_describer describer;
    struct shape_layout layout;
    if (!buffer_describer_init(&describer, view->module, view->scope, arena)) return;
    for (uint32_t i = 0; i < view->row_count; i++) {
        const struct memory_buffer *row = &view->rows[i];
        assert(row->start_step <= row->end_step);
        assert(row->end_step <= view->replay.step_count);
        (void)buffer_describe(&describer, row->buffer);
        if (row->buffer == HLO_NONE) continue;
        (void)shape_layout_read(memory_view_shape(view->module, row->buffer, view->scope), arena, &layout);
    }
    for (uint32_t i = 0; i < view->at_peak_count; i++) assert(view->at_peak[i] < view->row_count);
}

static void look_at(const struct hlo_module *module, int64_t space, enum memory_view_scope scope, size_t size) {
    struct arena arena;
    struct memory_view view;
    struct error error = {0};
    arena_init(&arena, ARENA_LIMIT_BYTES);
    if (memory_view_build(module, space, scope, &arena, &view, &error)) {
        check_curve(&view);
        check_rows(&view, &arena);
    } else {
        check_error(&error, size);
    }
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct hlo_module module;
    struct memory_summary_list list;
    struct error error = {0};
    arena_init(&arena, ARENA_LIMIT_BYTES);
    if (!hlo_module_load((struct bytes){data, size}, &arena, &module, &error)) {
        check_error(&error, size);
    } else if (!memory_summaries(&module, &arena, &list, &error)) {
        check_error(&error, size);
    } else {
        for (size_t i = 0; i < list.count && i < SPACES_LOOKED_AT; i++) {
            look_at(&module, list.summaries[i].space, MEMORY_VIEW_EXACT, size);
            look_at(&module, list.summaries[i].space, MEMORY_VIEW_AS_XPROF, size);
        }
    }
    arena_free(&arena);
    return 0;
}
