#include "server/document/buffer_json.h"

#include "analysis/hlo/shape.h"
#include "analysis/hlo/stack_trace.h"

struct subject {
    const struct memory_view *view;
    const struct hlo_module *module;
    uint32_t index;
    const struct hlo_buffer *buffer;
    const struct hlo_allocation *allocation;  // NULL when it has none
    const struct memory_buffer *row;          // NULL when the view does not show it
    struct buffer_description words;
    struct arena *arena;
    struct json_writer *w;
};

static const struct memory_buffer *find_row(const struct memory_view *view, uint32_t buffer) {
    for (uint32_t i = 0; i < view->row_count; i++) {
        if (view->rows[i].buffer == buffer) return &view->rows[i];
    }
    return NULL;
}

static int64_t offset_of(const struct subject *s) {
    for (uint32_t i = 0; i < s->allocation->assigned_count; i++) {
        const struct hlo_assigned *assigned = &s->module->assigned[s->allocation->first_assigned + i];
        if (assigned->buffer == s->index) return assigned->offset;
    }
    return 0;
}

static void write_sizes(const struct subject *s) {
    int64_t size = s->buffer->size_bytes;
    int64_t unpadded = shape_unpadded_bytes(memory_view_shape(s->module, s->index, MEMORY_VIEW_EXACT));
    if (unpadded > size) unpadded = size;
    json_write_int64_key(s->w, "size_bytes", size);
    json_write_int64_key(s->w, "unpadded_bytes", unpadded);
    json_write_int64_key(s->w, "padding_bytes", unpadded < 0 ? 0 : size - unpadded);
    json_key(s->w, "expansion");
    if (unpadded > 0) {
        json_write_double(s->w, (double)size / (double)unpadded);
    } else {
        json_write_null(s->w);
    }
}

static void write_allocation(const struct subject *s) {
    if (!s->allocation) {
        json_write_text_key(s->w, "category", NULL);
        json_write_text_key(s->w, "allocation", NULL);
        return;
    }
    json_write_text_key(s->w, "category", allocation_category_name(allocation_category_of(s->allocation)));
    json_open_object_key(s->w, "allocation");
    json_write_int64_key(s->w, "index", s->allocation->index);
    json_write_int64_key(s->w, "size_bytes", s->allocation->size_bytes);
    json_write_int64_key(s->w, "offset", offset_of(s));
    json_write_known_key(s->w, "parameter_number", s->allocation->is_entry_parameter, s->allocation->parameter_number);
    json_close_object(s->w);
}

static void write_dimensions(const struct shape_layout *layout, struct json_writer *w) {
    json_open_array_key(w, "dimensions");
    for (size_t i = 0; i < layout->dimension_count; i++) {
        json_open_object(w);
        json_write_int64_key(w, "dimension", (int64_t)i);
        json_write_int64_key(w, "size", layout->dimensions[i].size);
        json_write_int64_key(w, "padded", layout->dimensions[i].padded);
        json_write_int64_key(w, "tile", layout->dimensions[i].tile);
        json_close_object(w);
    }
    json_close_array(w);
}

static bool write_shape(const struct subject *s) {
    struct shape_layout layout;
    struct bytes shape = memory_view_shape(s->module, s->index, MEMORY_VIEW_EXACT);
    if (!shape_layout_read(shape, s->arena, &layout)) return false;
    json_write_string_key(s->w, "shape", s->words.shape);
    json_write_text_key(s->w, "element_type", layout.element_type);
    json_write_int64_key(s->w, "element_bits", layout.element_bits);
    write_dimensions(&layout, s->w);
    return true;
}

static const char *frame_text(const struct stack_trace_frame *frame, struct arena *arena) {
    return arena_printf(arena, "%.*s:%d:%d%s%.*s", (int)frame->file.size, (const char *)frame->file.data, frame->line,
                        frame->column, frame->function.size ? " " : "", (int)frame->function.size,
                        (const char *)frame->function.data);
}

static void write_source(const struct subject *s) {
    struct stack_trace_frame frames[STACK_TRACE_MAX_FRAMES];
    size_t count = stack_trace_read(s->module, s->words.stack_frame_id, frames, STACK_TRACE_MAX_FRAMES);
    json_write_string_key(s->w, "op_name", s->words.op_name);
    json_write_string_key(s->w, "source", buffer_source_text(&s->words, s->arena));
    json_open_array_key(s->w, "stack");
    for (size_t i = 0; i < count; i++) json_write_text(s->w, frame_text(&frames[i], s->arena));
    json_close_array(s->w);
}

static void write_step(const struct subject *s, const char *step_key, const char *instruction_key, uint32_t step) {
    const struct heap_replay *replay = &s->view->replay;
    bool is_known = s->view->has_simulation && step <= replay->step_count;
    json_write_int64_key(s->w, step_key, step);
    json_write_string_key(s->w, instruction_key, is_known ? replay->instruction_names[step] : BYTES(""));
}

static void write_lifetime(const struct subject *s) {
    write_step(s, "start_step", "start_instruction", s->row ? s->row->start_step : 0);
    write_step(s, "end_step", "end_instruction", s->row ? s->row->end_step : s->view->replay.step_count);
}

// The other buffers that the compiler gave the same bytes at the same offset while this one was the value in them: the
// events say so for simulated buffers, the allocation's own list for the others.
static bool shares_bytes(const struct subject *s, const struct hlo_event *event, uint32_t *other) {
    if (event->kind != HLO_EVENT_SHARE_WITH) return false;
    *other = event->buffer == s->index ? event->canonical : event->canonical == s->index ? event->buffer : HLO_NONE;
    return *other != HLO_NONE;
}

static void write_sharers(const struct subject *s, struct buffer_describer *describer) {
    json_open_array_key(s->w, "shares_with");
    for (uint32_t i = 0; i < s->module->event_count; i++) {
        uint32_t other;
        if (!shares_bytes(s, &s->module->events[i], &other)) continue;
        json_open_object(s->w);
        json_write_int64_key(s->w, "logical_buffer_id", s->module->buffers[other].id);
        json_write_string_key(s->w, "instruction", buffer_name(describer, other));
        json_close_object(s->w);
    }
    json_close_array(s->w);
}

static bool write_subject(const struct subject *s, struct buffer_describer *describer) {
    json_open_object(s->w);
    json_write_int64_key(s->w, "logical_buffer_id", s->buffer->id);
    json_write_string_key(s->w, "instruction", s->words.name);
    json_write_string_key(s->w, "opcode", s->words.opcode);
    json_write_string_key(s->w, "computation", s->words.computation);
    json_write_int64_key(s->w, "memory_space", s->buffer->color);
    write_sizes(s);
    write_allocation(s);
    if (!write_shape(s)) return false;
    write_source(s);
    write_lifetime(s);
    write_sharers(s, describer);
    json_close_object(s->w);
    return true;
}

bool buffer_json_write(const struct memory_view *view, uint32_t buffer, struct arena *scratch, struct json_writer *w,
                       struct error *error) {
    const struct hlo_module *module = view->module;
    struct buffer_describer describer;
    bool good = buffer_describer_init(&describer, module, MEMORY_VIEW_EXACT, scratch);
    if (good) {
        uint32_t allocation = module->allocation_of_buffer[buffer];
        struct subject subject = {.view = view,
                                  .module = module,
                                  .index = buffer,
                                  .buffer = &module->buffers[buffer],
                                  .allocation = allocation == HLO_NONE ? NULL : &module->allocations[allocation],
                                  .row = find_row(view, buffer),
                                  .words = buffer_describe(&describer, buffer),
                                  .arena = scratch,
                                  .w = w};
        good = write_subject(&subject, &describer);
    }
    return good || error_set(error, ERROR_TOO_BIG, "no memory left for the reply");
}
