#include "analysis/hlo/wide_shapes.h"

#include "analysis/base/growing_array.h"
#include "proto/hlo_fields.h"
#include "proto/wire.h"

enum { NOT_COUNTED = -2, CUT_TEXT_BYTES = 256 };

bool wide_shapes_init(struct wide_shapes *wide, struct arena *arena) {
    *wide = (struct wide_shapes){.arena = arena};
    return id_map_init(&wide->known, arena, 0);
}

static uint32_t list_elements(struct bytes shape, struct bytes *elements) {
    struct wire w = wire_open(shape);
    uint32_t count = 0;
    for (struct wire_field f; wire_next(&w, &f);) {
        if (f.number != SHAPE_TUPLE_SHAPES || f.type != WIRE_LEN) continue;
        if (elements) elements[count] = f.payload;
        count++;
    }
    return count;
}

// NULL for a shape that is walked.
static struct wide_shape *find(struct wide_shapes *wide, struct bytes shape) {
    if (!wide || shape.size <= WIDE_SHAPE_BYTES) return NULL;
    if (!growing_array_has_room(wide->arena, &wide->shapes, wide->count, sizeof *wide->shapes)) return NULL;
    uint32_t *place = id_map_place(&wide->known, (int64_t)(uintptr_t)shape.data);
    if (!place) return NULL;
    if (*place == ID_MAP_NONE) {
        wide->shapes[wide->count] = (struct wide_shape){.shape = shape, .unpadded_bytes = NOT_COUNTED};
        *place = wide->count++;
    }
    return &wide->shapes[*place];
}

static bool has_elements(const struct wide_shapes *wide, struct wide_shape *known) {
    if (known->elements) return true;
    known->element_count = list_elements(known->shape, NULL);
    known->elements = arena_push_raw(wide->arena, known->element_count, sizeof *known->elements);
    if (known->elements) list_elements(known->shape, known->elements);
    return known->elements != NULL;
}

struct bytes wide_shape_at(struct wide_shapes *wide, struct bytes shape, struct shape_path path) {
    for (size_t i = 0; i < path.count; i++) {
        struct wide_shape *known = find(wide, shape);
        if (!known || !has_elements(wide, known))
            shape = shape_at(shape, (struct shape_path){&path.index[i], 1});
        else if (path.index[i] >= 0 && path.index[i] < known->element_count)
            shape = known->elements[path.index[i]];
    }
    return shape;
}

int64_t wide_shape_unpadded_bytes(struct wide_shapes *wide, struct bytes shape) {
    struct wide_shape *known = find(wide, shape);
    if (!known) return shape_unpadded_bytes(shape);
    if (known->unpadded_bytes == NOT_COUNTED) known->unpadded_bytes = shape_unpadded_bytes(shape);
    return known->unpadded_bytes;
}

static struct bytes text_of(const char *written) {
    return written ? bytes_of(written) : (struct bytes){0};
}

static struct bytes cut_text(struct wide_shape *known, struct arena *arena) {
    int shown = known->text.size < CUT_TEXT_BYTES ? (int)known->text.size : CUT_TEXT_BYTES;
    if (!known->cut.data)
        known->cut = text_of(arena_printf(arena, "%.*s ... (%zu more bytes, at another buffer of this tuple)", shown,
                                          (const char *)known->text.data, known->text.size - (size_t)shown));
    return known->cut;
}

struct bytes wide_shape_text(struct wide_shapes *wide, struct bytes shape, uint32_t reader) {
    struct wide_shape *known = find(wide, shape);
    if (!known) return text_of(shape_text(shape, wide->arena));
    if (known->text.data && known->reader != reader) return cut_text(known, wide->arena);
    if (!known->text.data) known->text = text_of(shape_text(shape, wide->arena));
    known->reader = reader;
    return known->text;
}
