#include "analysis/hlo/hlo_text_shape.h"

#include "analysis/hlo/element_type.h"
#include "analysis/hlo/hlo_text_encode.h"
#include "analysis/hlo/hlo_text_scan.h"
#include "proto/hlo_fields.h"

// Of ShapeProto and LayoutProto what nothing reads on the wire: protobuf-c unpacks it (shape_unpack.h).
enum { WRITTEN_IS_DYNAMIC = 6, WRITTEN_ELEMENT_BITS = 7, WRITTEN_SPACE = 8, WRITTEN_TAIL = 16 };
enum { ELEMENT_TYPES_END = 64 };

bool hlo_text_take_shape(struct bytes *text, struct bytes *shape) {
    struct bytes rest = *text, inside;
    if (rest.size && rest.data[0] == '(') {
        if (!text_take_brackets(&rest, &inside)) return false;
    } else if (text_take_until(&rest, ' ').size == 0) {
        return false;
    }
    *shape = (struct bytes){text->data, text->size - rest.size};
    *text = rest;
    return true;
}

static int64_t type_number(struct bytes name) {
    for (int64_t number = 1; number < ELEMENT_TYPES_END; number++) {
        const struct element_type *type = element_type_of(number);
        if (type && bytes_equal(name, bytes_of(type->name))) return number;
    }
    return 0;
}

// "2050,<=129": the dimensions, then which of them are bounds.
static void encode_dimensions(struct text_writer *w, struct bytes list) {
    bool has_dynamic = list.size && memchr(list.data, '<', list.size);
    int64_t dimension;
    for (struct bytes rest = list; rest.size; text_take(&rest, BYTES(","))) {
        text_take(&rest, BYTES("<="));
        if (!text_take_int64(&rest, &dimension)) break;
        encode_varint(w, SHAPE_DIMENSIONS, (uint64_t)dimension);
    }
    for (struct bytes rest = list; has_dynamic && rest.size; text_take(&rest, BYTES(","))) {
        bool is_dynamic = text_take(&rest, BYTES("<="));
        if (!text_take_int64(&rest, &dimension)) break;
        encode_varint(w, WRITTEN_IS_DYNAMIC, is_dynamic);
    }
}

// "8,128", "2,*": a star is "combine with the next dimension".
static void encode_tile(struct text_writer *w, struct bytes list) {
    size_t tile = encode_open(w, LAYOUT_TILES);
    for (struct bytes rest = list; rest.size; text_take(&rest, BYTES(","))) {
        int64_t dimension = INT64_MIN;
        if (!text_take(&rest, BYTES("*")) && !text_take_int64(&rest, &dimension)) break;
        encode_varint(w, TILE_DIMENSIONS, (uint64_t)dimension);
    }
    encode_close(w, tile);
}

static void encode_property(struct text_writer *w, uint8_t letter, struct bytes inside) {
    int64_t value;
    if (letter == 'T') {
        encode_tile(w, inside);
    } else if (text_take_int64(&inside, &value)) {
        if (letter == 'S') encode_varint(w, WRITTEN_SPACE, (uint64_t)value);
        if (letter == 'E') encode_varint(w, WRITTEN_ELEMENT_BITS, (uint64_t)value);
        if (letter == 'L') encode_varint(w, WRITTEN_TAIL, (uint64_t)value);
    }
}

// "1,0:T(8,128)(2,1)E(4)S(1)"
static void encode_layout(struct text_writer *w, struct bytes text) {
    struct bytes order = text_take_until(&text, ':'), inside;
    size_t layout = encode_open(w, SHAPE_LAYOUT);
    int64_t dimension;
    for (; text_take_int64(&order, &dimension); text_take(&order, BYTES(",")))
        encode_varint(w, LAYOUT_MINOR_TO_MAJOR, (uint64_t)dimension);
    text_take(&text, BYTES(":"));
    for (uint8_t letter = 0; text.size;) {
        if (text.data[0] == '(') {
            if (!text_take_brackets(&text, &inside)) break;
            encode_property(w, letter, inside);
        } else {
            letter = text.data[0];
            text_skip(&text, 1);
        }
    }
    encode_close(w, layout);
}

static void encode_array(struct text_writer *w, struct bytes text) {
    struct bytes name = text_take_until(&text, '['), inside;
    int64_t number = type_number(name);
    if (number == 0) return;
    encode_varint(w, SHAPE_ELEMENT_TYPE, (uint64_t)number);
    if (text_take_brackets(&text, &inside)) encode_dimensions(w, inside);
    if (text_take_brackets(&text, &inside)) encode_layout(w, inside);
}

static void skip_comment(struct bytes *text) {
    text_skip_spaces(text);
    while (text_take(text, BYTES("/*"))) {
        while (text->size && !bytes_starts_with(*text, BYTES("*/"))) text_skip(text, 1);
        text_skip(text, 2);
        text_skip_spaces(text);
    }
}

// An element of a tuple: up to the comma outside of brackets, or to a bracket that does not close.
static struct bytes take_element(struct bytes *text) {
    struct bytes rest = *text, inside;
    while (rest.size && rest.data[0] != ',') {
        if (!text_is_bracket(rest))
            text_skip(&rest, 1);
        else if (!text_take_brackets(&rest, &inside))
            text_skip(&rest, rest.size);
    }
    struct bytes element = {text->data, text->size - rest.size};
    *text = rest;
    text_take(text, BYTES(","));
    return element;
}

// Recurses no deeper than HLO_TEXT_SHAPE_DEPTH.
static void encode_shape(struct text_writer *w, uint32_t field, struct bytes shape, unsigned depth) {
    struct bytes inside;
    size_t mark = encode_open(w, field);
    if (text_take_brackets(&shape, &inside)) {
        encode_varint(w, SHAPE_ELEMENT_TYPE, ELEMENT_TYPE_TUPLE);
        for (skip_comment(&inside); inside.size && depth < HLO_TEXT_SHAPE_DEPTH; skip_comment(&inside))
            encode_shape(w, SHAPE_TUPLE_SHAPES, take_element(&inside), depth + 1);
    } else {
        encode_array(w, shape);
    }
    encode_close(w, mark);
}

void hlo_text_encode_shape(struct text_writer *w, uint32_t field, struct bytes shape) {
    encode_shape(w, field, shape, 0);
}
