#include "analysis/hlo/shape_unpack.h"

#include "proto/hlo_fields.h"
#include "proto/wire.h"

static void *allocate(void *arena, size_t size) {
    return arena_push(arena, 1, size);
}

static void release(void *arena, void *pointer) {  // the arena frees it all
    (void)arena, (void)pointer;
}

// protobuf-c unpacks by recursion, so the nesting of tuples is bounded before it starts. The walk keeps a stack of its
// own, at most SHAPE_MAX_DEPTH deep.
static bool is_shallow(struct bytes shape) {
    struct wire stack[SHAPE_MAX_DEPTH];
    size_t depth = 1;
    stack[0] = wire_open(shape);
    while (depth > 0) {
        struct wire_field f;
        if (!wire_next(&stack[depth - 1], &f)) {
            if (stack[depth - 1].fault) return false;
            depth--;
        } else if (f.number == SHAPE_TUPLE_SHAPES && f.type == WIRE_LEN) {
            if (depth == SHAPE_MAX_DEPTH) return false;
            stack[depth++] = wire_open(f.payload);
        }
    }
    return true;
}

const Hbmview__ShapeProto *shape_unpack(struct bytes shape, struct arena *arena) {
    if (!shape.data || shape.size > SHAPE_MAX_BYTES || !is_shallow(shape)) return NULL;
    ProtobufCAllocator allocator = {allocate, release, arena};
    return hbmview__shape_proto__unpack(&allocator, shape.size, shape.data);
}
