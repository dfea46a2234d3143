#include "analysis/base/text_writer.h"
#include "analysis/hlo/element_type.h"
#include "analysis/hlo/shape.h"
#include "analysis/hlo/shape_unpack.h"

enum { TUPLE_INDEX_EVERY = 5 };  // XLA counts the elements of a tuple in comments: /*index=5*/

static void put_list(struct text_writer *text, const int64_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (i) text_put(text, ",");
        text_put_int64(text, values[i]);
    }
}

static void put_dimensions(struct text_writer *text, const Hbmview__ShapeProto *shape) {
    text_put(text, "[");
    for (size_t i = 0; i < shape->n_dimensions; i++) {
        bool is_dynamic = i < shape->n_is_dynamic_dimension && shape->is_dynamic_dimension[i];
        if (i) text_put(text, ",");
        if (is_dynamic) text_put(text, "<=");
        text_put_int64(text, shape->dimensions[i]);
    }
    text_put(text, "]");
}

// (8,128): INT64_MIN in a tile means "combine with the next dimension" and is written "*".
static void put_tile(struct text_writer *text, const Hbmview__TileProto *tile) {
    text_put(text, "(");
    for (size_t i = 0; i < tile->n_dimensions; i++) {
        if (i) text_put(text, ",");
        if (tile->dimensions[i] == INT64_MIN) {
            text_put(text, "*");
        } else {
            text_put_int64(text, tile->dimensions[i]);
        }
    }
    text_put(text, ")");
}

static void put_property(struct text_writer *text, const char *letter, int64_t value) {
    text_put(text, letter);
    text_put(text, "(");
    text_put_int64(text, value);
    text_put(text, ")");
}

static bool has_properties(const Hbmview__LayoutProto *layout) {
    return layout->n_tiles || layout->tail_padding_alignment_in_elements > 1 || layout->element_size_in_bits ||
           layout->memory_space;
}

static void put_layout(struct text_writer *text, const Hbmview__LayoutProto *layout) {
    text_put(text, "{");
    put_list(text, layout->minor_to_major, layout->n_minor_to_major);
    if (has_properties(layout)) text_put(text, ":");
    if (layout->n_tiles) text_put(text, "T");
    for (size_t i = 0; i < layout->n_tiles; i++) put_tile(text, layout->tiles[i]);
    if (layout->tail_padding_alignment_in_elements > 1) {
        put_property(text, "L", layout->tail_padding_alignment_in_elements);
    }
    if (layout->element_size_in_bits) put_property(text, "E", layout->element_size_in_bits);
    if (layout->memory_space) put_property(text, "S", layout->memory_space);
    text_put(text, "}");
}

static void put_array(struct text_writer *text, const Hbmview__ShapeProto *shape) {
    const struct element_type *type = element_type_of(shape->element_type);
    text_put(text, type ? type->name : "invalid");
    put_dimensions(text, shape);
    const Hbmview__LayoutProto *layout = shape->layout;
    if (layout && (layout->n_minor_to_major || has_properties(layout))) put_layout(text, layout);
}

// Recurses no deeper than SHAPE_MAX_DEPTH: shape_unpack refuses deeper shapes.
static void put_shape(struct text_writer *text, const Hbmview__ShapeProto *shape) {
    if (shape->element_type != ELEMENT_TYPE_TUPLE) {
        put_array(text, shape);
        return;
    }
    text_put(text, "(");
    for (size_t i = 0; i < shape->n_tuple_shapes; i++) {
        if (i) text_put(text, ", ");
        if (i && i % TUPLE_INDEX_EVERY == 0) {
            text_put(text, "/*index=");
            text_put_int64(text, (int64_t)i);
            text_put(text, "*/");
        }
        put_shape(text, shape->tuple_shapes[i]);
    }
    text_put(text, ")");
}

const char *shape_text(struct bytes shape, struct arena *arena) {
    struct text_writer text = {.arena = arena};
    const Hbmview__ShapeProto *unpacked = shape_unpack(shape, arena);
    if (unpacked) put_shape(&text, unpacked);
    return text_writer_finish(&text);
}
