// Shapes: how many bytes an array needs, how it is written, and where its padding comes from.
//
//     bf16[8,1024,768]{2,1,0:T(8,128)(2,1)S(1)}
//      ^    ^ dimensions ^ minor-to-major  ^ second tile: two bf16 rows packed in 32 bits     ^ memory space 1
//                              ^ tile: the two minor dimensions are padded up to multiples of 8 and 128
//
// Sizes of many buffers are counted on the wire (shape_size.c: the hot path); one shape that is shown is unpacked by
// protobuf-c into the caller's arena (shape_text.c, shape_layout.c).
#pragma once

#include "analysis/base/arena.h"

// Which part of an instruction's shape a logical buffer is: {} the whole, {1} element 1 of a tuple, {1,0} element 0 of
// that. XProf resolves only the last entry (ResolveShapeIndex, xprof/convert/hlo_proto_to_memory_visualization_utils.cc
// in openxla/xprof a27d00aa), so its callers pass a path of one. Both stay at a shape that has no such element.
struct shape_path {
    const int64_t *index;
    size_t count;
};

// The ShapeProto inside `shape` that `path` leads to: a view.
struct bytes shape_at(struct bytes shape, struct shape_path path);

// Bytes of the values alone: product of dimensions x element size, sub-byte elements packed; a tuple is 8 bytes an
// element (its pointer table); tokens and opaque values have none. `shape` is a ShapeProto. -1 when it is damaged, its
// element type unknown, or the product too large for int64.
int64_t shape_unpadded_bytes(struct bytes shape);

// The shape as XLA writes it (ShapeUtil::HumanStringWithLayout): "" when it is damaged. NULL at the arena's limit.
const char *shape_text(struct bytes shape, struct arena *arena);

struct shape_dimension {
    int64_t size;
    int64_t padded;  // as it lies in memory
    int64_t tile;    // the multiple it is padded to; 1 for none
};

struct shape_layout {
    const char *element_type;  // "bf16"; "" when unknown
    int element_bits;          // 0 when it has no size (tuple, token, opaque)
    struct shape_dimension *dimensions;
    size_t dimension_count;
};

// Where the padding of an array comes from. All zero for tuples and for what has no layout. False at the arena's limit.
bool shape_layout_read(struct bytes shape, struct arena *arena, struct shape_layout *layout);
