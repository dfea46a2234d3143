// What was found in wide shapes, so that each is walked once however many buffers are elements of it.
//
//     (f32[8], bf16[4,2], ...)   30,000 elements, 30,000 logical buffers {0}, {1}, ...: a walk to each passes half of
//      ^ at 2   ^ at 14          them, so a wide tuple is listed when it is first asked for
//
// Shapes up to WIDE_SHAPE_BYTES are not kept: walking them is as fast as finding them. Lives on the caller's arena with
// views into the module's blob; where the arena is at its limit, shapes are walked again.
#pragma once

#include "analysis/base/id_map.h"
#include "analysis/hlo/shape.h"

enum { WIDE_SHAPE_BYTES = 1024 };

struct wide_shape {
    struct bytes shape;  // ShapeProto; the rest when it is asked for
    struct bytes *elements;
    uint32_t element_count;
    int64_t unpadded_bytes;
    struct bytes text, cut;
    uint32_t reader;  // who got the text
};

struct wide_shapes {
    struct arena *arena;
    struct id_map known;  // by where the shape begins
    struct wide_shape *shapes;
    uint32_t count;
};

// False when the arena is at its limit.
bool wide_shapes_init(struct wide_shapes *wide, struct arena *arena);

// As the functions of shape.h that they are named after. Without `wide` a shape is walked, which does for one buffer.
struct bytes wide_shape_at(struct wide_shapes *wide, struct bytes shape, struct shape_path path);
int64_t wide_shape_unpadded_bytes(struct wide_shapes *wide, struct bytes shape);

// As shape_text, for the logical buffer `reader`. A compiler makes one logical buffer of a tuple, so whoever else asks
// for the text of the same wide one gets its beginning and how much is left out: else a file could make its text as
// many times as long as it has buffers.
struct bytes wide_shape_text(struct wide_shapes *wide, struct bytes shape, uint32_t reader);
