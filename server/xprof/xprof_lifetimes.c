#include "server/xprof/xprof_peak.h"

// Tuples hold pointers only, and thread-local bytes are not shared: XProf calls the others reusable.
static bool is_reusable(const struct hlo_allocation *allocation) {
    return !allocation->is_thread_local && !allocation->is_tuple;
}

static void write_attributes(const struct hlo_allocation *allocation, struct json_writer *w) {
    if (!allocation->is_entry_parameter && !allocation->maybe_live_out && !is_reusable(allocation)) return;
    json_open_array_key(w, "attributes");
    if (allocation->is_entry_parameter) json_write_text(w, "entry computation parameter");
    if (allocation->maybe_live_out) json_write_text(w, "may-be live out");
    if (is_reusable(allocation)) json_write_text(w, "reusable");
    json_close_array(w);
}

static void write_shape_index(const struct hlo_buffer *buffer, struct json_writer *w) {
    int64_t index[HLO_SHAPE_INDEX_MAX];
    size_t count = hlo_buffer_shape_index(buffer, index, HLO_SHAPE_INDEX_MAX);
    if (!count) return;
    json_open_array_key(w, "shapeIndex");
    for (size_t i = 0; i < count && i < HLO_SHAPE_INDEX_MAX; i++) json_write_int64_text(w, index[i]);
    json_close_array(w);
}

static void write_buffer(const struct hlo_buffer *buffer, struct bytes instruction_name, struct bytes shape,
                         struct json_writer *w) {
    json_open_object(w);
    json_key(w, "id");
    json_write_int64_text(w, buffer->id);
    xprof_string_key(w, "shape", shape);
    xprof_mib_key(w, "sizeMib", buffer->size_bytes);
    xprof_string_key(w, "hloName", instruction_name);
    write_shape_index(buffer, w);
    json_close_object(w);
}

// The shape all buffers of the allocation have, or empty.
static struct bytes write_buffers(const struct memory_view *view, const struct hlo_allocation *allocation,
                                  struct xprof_words *words, struct json_writer *w) {
    struct bytes common = {0};
    bool is_first = true;
    for (uint32_t i = 0; i < allocation->assigned_count; i++) {
        uint32_t buffer = view->module->assigned[allocation->first_assigned + i].buffer;
        if (buffer == HLO_NONE) continue;
        struct hlo_instruction instruction = hlo_instruction_read(view->module,
                                                                  view->module->buffers[buffer].instruction);
        struct bytes shape = buffer_shape_text(&words->describer, buffer, instruction.shape);
        if (is_first) json_key(w, "logicalBuffers");
        if (is_first) json_open_array(w);
        if (is_first) common = shape;
        if (!bytes_equal(common, shape)) common = (struct bytes){0};
        is_first = false;
        write_buffer(&view->module->buffers[buffer], instruction.name, shape, w);
    }
    if (!is_first) json_close_array(w);
    return common;
}

static void write_allocation(const struct memory_view *view, const struct hlo_allocation *allocation,
                             struct xprof_words *words, struct json_writer *w) {
    json_open_object(w);
    if (allocation->index) {
        json_key(w, "id");
        json_write_int64_text(w, allocation->index);
    }
    xprof_mib_key(w, "sizeMib", allocation->size_bytes);
    write_attributes(allocation, w);
    struct bytes common = write_buffers(view, allocation, words, w);
    xprof_string_key(w, "commonShape", common);
    json_close_object(w);
}

static bool is_listed(const struct memory_view *view, const struct hlo_allocation *allocation) {
    return allocation->color == view->totals.space && !allocation->is_thread_local &&
           allocation_is_indefinite(allocation);
}

void xprof_lifetimes_write(const struct memory_view *view, struct xprof_words *words, struct json_writer *w) {
    json_open_array_key(w, "indefiniteLifetimes");
    for (uint32_t i = 0; i < view->module->allocation_count; i++) {
        const struct hlo_allocation *allocation = &view->module->allocations[i];
        if (is_listed(view, allocation)) write_allocation(view, allocation, words, w);
    }
    json_close_array(w);
}
