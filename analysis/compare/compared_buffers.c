#include "analysis/compare/compared_buffers.h"

#include "analysis/base/text_writer.h"
#include "analysis/groups/memory_groups.h"
#include "analysis/memory/buffer_description.h"
#include "analysis/program/op_name.h"

struct reader {
    const struct compared_side *side;
    struct buffer_describer describer;
    struct string_table *words;
    struct arena *arena;
};

static enum buffer_use use_of(enum allocation_category category) {
    static const enum buffer_use uses[ALLOCATION_CATEGORY_COUNT] = {
        [ALLOCATION_PARAMETER] = BUFFER_USE_ARGUMENT,  [ALLOCATION_DONATED] = BUFFER_USE_ARGUMENT,
        [ALLOCATION_OUTPUT] = BUFFER_USE_OUTPUT,       [ALLOCATION_CONSTANT] = BUFFER_USE_CONSTANT,
        [ALLOCATION_TEMPORARY] = BUFFER_USE_TEMPORARY, [ALLOCATION_THREAD_LOCAL] = BUFFER_USE_TEMPORARY,
    };
    return uses[category];
}

// bf16[8,2048]{1,0:T(8,128)} -> bf16[,]
static struct bytes form_of(struct bytes shape, struct arena *arena) {
    struct text_writer text = {.arena = arena};
    size_t open = bytes_find(shape, BYTES("[")), close = bytes_find(shape, BYTES("]"));
    text_put_bytes(&text, (struct bytes){shape.data, open});
    for (size_t i = open; i < close; i++) {
        if (shape.data[i] == ',') text_put(&text, ",");
    }
    return text_writer_bytes(&text);
}

static struct bytes element_of(struct bytes name) {
    size_t open = bytes_find(name, BYTES("{"));
    return open ? (struct bytes){name.data + open, name.size - open} : name;
}

static uint32_t word(const struct reader *r, struct bytes text) {
    return text.size ? string_table_put(r->words, text) : 0;
}

static void read_source(const struct reader *r, const struct memory_buffer *row, struct compared_buffer *buffer) {
    const struct buffer_sources *sources = r->side->sources;
    struct leaf_origin origin = buffer_source_of(sources, &sources->lines, row);
    if (origin.node == HLO_NONE) return;
    if (!buffer_source_is_argument(sources, origin)) {
        buffer->source = word(r, buffer_source_line(sources, origin.node, r->arena));
        return;
    }
    buffer->source = word(r, buffer_source_argument(sources, origin.node));
    if (buffer->use == BUFFER_USE_ARGUMENT) buffer->argument = buffer->source;
}

static struct compared_buffer read_buffer(struct reader *r, const struct live_row *live) {
    const struct memory_buffer *row = &r->side->view->rows[live->row];
    struct buffer_description said = buffer_describe(&r->describer, row->buffer);
    struct compared_buffer buffer = {
        .row = live->row,
        .size_bytes = live->size_bytes,
        .category = row->category,
        .use = use_of(row->category),
        .name = word(r, said.name),
        .element = word(r, element_of(said.name)),
        .opcode = word(r, said.opcode),
        .op_name = word(r, said.op_name),
        .primitive = word(r, op_name_primitive(said.op_name)),
        .shape = word(r, said.shape),
    };
    read_source(r, row, &buffer);
    return buffer;
}

// Many buffers have few shapes.
static bool set_forms(const struct reader *r, struct compared_buffers *buffers) {
    uint32_t shapes = r->words->count;
    uint32_t *form_of_shape = arena_new(r->arena, uint32_t, shapes);
    if (!form_of_shape) return false;
    for (uint32_t i = 0; i < buffers->count; i++) {
        uint32_t shape = buffers->list[i].shape;
        if (shape && !form_of_shape[shape]) form_of_shape[shape] = word(r, form_of(r->words->texts[shape], r->arena));
        buffers->list[i].form = form_of_shape[shape];
    }
    return true;
}

bool compared_buffers_read(const struct compared_side *side, struct string_table *words, struct arena *arena,
                           struct compared_buffers *buffers) {
    struct reader r = {.side = side, .words = words, .arena = arena};
    struct live_rows live;
    *buffers = (struct compared_buffers){0};
    if (!live_rows_at(side->view, memory_groups_peak_step(side->view), arena, &live) ||
        !buffer_describer_init(&r.describer, side->view->module, MEMORY_VIEW_EXACT, arena))
        return false;
    buffers->list = arena_push_raw(arena, (size_t)live.count + 1, sizeof *buffers->list);
    if (!buffers->list) return false;
    for (uint32_t i = 0; i < live.count; i++) buffers->list[buffers->count++] = read_buffer(&r, &live.rows[i]);
    if (live.unexplained_bytes)
        buffers->list[buffers->count++] = (struct compared_buffer){
            .row = HLO_NONE, .size_bytes = live.unexplained_bytes, .category = ALLOCATION_TEMPORARY};
    return set_forms(&r, buffers) && !words->has_failed;
}
