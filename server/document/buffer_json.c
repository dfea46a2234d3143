#include "server/document/buffer_json.h"

#include "analysis/hlo/shape.h"
struct subject {  // of a document
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

const struct memory_buffer *buffer_row_of(const struct memory_view *view, uint32_t buffer) {
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

// --- Who has the same bytes ---

// The compiler gave both the same bytes at the same offset: the events say so for simulated buffers.
static bool find_shares(struct buffer_teller *teller) {
    const struct hlo_module *module = teller->view->module;
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->event_count; i++) count += module->events[i].kind == HLO_EVENT_SHARE_WITH;
    teller->shares = arena_push_raw(teller->arena, count, sizeof *teller->shares);
    if (!teller->shares) return false;
    for (uint32_t i = 0; i < module->event_count; i++) {
        const struct hlo_event *event = &module->events[i];
        if (event->kind == HLO_EVENT_SHARE_WITH)
            teller->shares[teller->share_count++] = (struct buffer_share){event->buffer, event->canonical};
    }
    return true;
}

static void write_sharers(const struct subject *s, const struct buffer_teller *teller) {
    json_open_array_key(s->w, "shares_with");
    for (uint32_t i = 0; i < teller->share_count; i++) {
        struct buffer_share share = teller->shares[i];
        uint32_t other = share.buffer == s->index      ? share.canonical
                         : share.canonical == s->index ? share.buffer
                                                       : HLO_NONE;
        if (other == HLO_NONE) continue;
        json_open_object(s->w);
        json_write_int64_key(s->w, "logical_buffer_id", s->module->buffers[other].id);
        json_write_string_key(s->w, "instruction", buffer_name(&teller->describer, other));
        json_close_object(s->w);
    }
    json_close_array(s->w);
}

// --- The document ---

// A buffer that the view does not show has the row that it would have.
static void write_origin(const struct subject *s, const struct buffer_origins *origins) {
    struct memory_buffer hidden = {.buffer = s->index,
                                   .allocation = s->module->allocation_of_buffer[s->index],
                                   .size_bytes = s->buffer->size_bytes,
                                   .category = ALLOCATION_TEMPORARY};
    if (s->allocation) hidden.category = allocation_category_of(s->allocation);
    buffer_origin_json_write(origins, s->row ? s->row : &hidden, s->w);
}

static bool write_subject(const struct subject *s, const struct buffer_teller *teller) {
    json_open_object(s->w);
    json_write_int64_key(s->w, "logical_buffer_id", s->buffer->id);
    json_write_string_key(s->w, "instruction", s->words.name);
    json_write_string_key(s->w, "opcode", s->words.opcode);
    json_write_string_key(s->w, "computation", s->words.computation);
    json_write_int64_key(s->w, "memory_space", s->buffer->color);
    write_sizes(s);
    write_allocation(s);
    if (!write_shape(s)) return false;
    json_write_string_key(s->w, "op_name", s->words.op_name);
    write_origin(s, &teller->origins);
    write_lifetime(s);
    write_sharers(s, teller);
    json_close_object(s->w);
    return true;
}

bool buffer_teller_init(struct buffer_teller *teller, const struct memory_view *view, struct arena *arena,
                        struct error *error) {
    *teller = (struct buffer_teller){.view = view, .arena = arena};
    if (!buffer_origins_read(view, arena, &teller->origins, error)) return false;
    return (buffer_describer_init(&teller->describer, view->module, MEMORY_VIEW_EXACT, arena) && find_shares(teller)) ||
           error_set(error, ERROR_TOO_BIG, "no memory left for the reply");
}

bool buffer_json_write(struct buffer_teller *teller, uint32_t buffer, const struct memory_buffer *row,
                       struct json_writer *w, struct error *error) {
    const struct hlo_module *module = teller->view->module;
    uint32_t allocation = module->allocation_of_buffer[buffer];
    struct subject subject = {.view = teller->view,
                              .module = module,
                              .index = buffer,
                              .buffer = &module->buffers[buffer],
                              .allocation = allocation == HLO_NONE ? NULL : &module->allocations[allocation],
                              .row = row,
                              .words = buffer_describe(&teller->describer, buffer),
                              .arena = teller->arena,
                              .w = w};
    return write_subject(&subject, teller) || error_set(error, ERROR_TOO_BIG, "no memory left for the reply");
}
