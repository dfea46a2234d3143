// The shape of one array as numbers to calculate with: what it weighs, and what it would weigh with other dimensions.
//
//     bf16[8,1024,768]{2,1,0:T(8,128)(2,1)}     type 16, 16 bits
//          |    |    |                          dimensions    8, 1024, 768
//          |    |    '-- most minor             minor_to_major 2, 1, 0
//          |    '------- padded to 8            tile          128, 8    (most minor first)
//
// A tuple, a token, more than ARRAY_RANK_MAX dimensions: rank ARRAY_NONE, whose weight nobody here changes. The tile is
// the first one of the layout; later ones pad no further. Knows no instruction.
// protobuf-c unpacks it, as it does a shape that is shown (shape.h).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/bytes.h"

enum { ARRAY_RANK_MAX = 8, ARRAY_NONE = 0xff };

struct array_shape {
    int64_t dimensions[ARRAY_RANK_MAX];
    int32_t tile[ARRAY_RANK_MAX];  // of the physical dimensions, most minor first
    uint8_t minor_to_major[ARRAY_RANK_MAX];
    uint8_t rank, tile_rank;
    uint8_t element_type;  // PrimitiveType
    uint8_t element_bits;
};

struct array_shape array_shape_read(struct bytes shape);  // a ShapeProto

// As it lies in memory, padding included; -1 when it is no array or the product passes int64. A dimension that has
// become smaller than its tile gets the smallest power of two that holds it, as the compiler would choose.
int64_t array_shape_bytes(const struct array_shape *shape);

// The same with two neighbours of its layout in each other's place, from the most minor ones at 0 on: what a compiler
// may choose when the present order pads.
int64_t array_shape_bytes_turned(const struct array_shape *shape, int place);

int64_t array_shape_elements(const struct array_shape *shape);  // without padding; 0 when it is no array

static inline bool array_is(const struct array_shape *shape) {
    return shape->rank != ARRAY_NONE;
}

// The same dimensions in the same order, whatever the element type and layout.
bool array_same_dimensions(const struct array_shape *a, const struct array_shape *b);

// The padded size of `dimension` (logical).
int64_t array_padded_dimension(const struct array_shape *shape, int dimension);
