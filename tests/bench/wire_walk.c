#include "tests/bench/wire_walk.h"

#include "proto/hlo_fields.h"

enum message {
    NO_MESSAGE,  // a string, bytes, a packed field, or a message that hlo.proto leaves out
    HLO_PROTO,
    MODULE,
    COMPUTATION,
    INSTRUCTION,
    SHAPE,
    LAYOUT,
    TILE,
    METADATA,
    STACK_INDEX,
    FILE_LOCATION,
    STACK_FRAME,
    ASSIGNMENT,
    BUFFER,
    LOCATION,
    ALLOCATION,
    ASSIGNED,
    TRACE,
    EVENT,
    MESSAGE_COUNT,
};

enum { WALKED_FIELDS = 64, LAYOUT_OF_SHAPE = 5, TILES_OF_LAYOUT = 6, DEEPEST = 100 };

// Which message field `number` of a message holds.
static const uint8_t inner[MESSAGE_COUNT][WALKED_FIELDS] = {
    [HLO_PROTO] = {[HLO_PROTO_MODULE] = MODULE, [HLO_PROTO_BUFFER_ASSIGNMENT] = ASSIGNMENT},
    [MODULE] = {[HLO_MODULE_COMPUTATIONS] = COMPUTATION, [HLO_MODULE_STACK_FRAME_INDEX] = STACK_INDEX},
    [COMPUTATION] = {[HLO_COMPUTATION_INSTRUCTIONS] = INSTRUCTION},
    [INSTRUCTION] = {[HLO_INSTRUCTION_SHAPE] = SHAPE, [HLO_INSTRUCTION_METADATA] = METADATA},
    [SHAPE] = {[SHAPE_TUPLE_SHAPES] = SHAPE, [LAYOUT_OF_SHAPE] = LAYOUT},
    [LAYOUT] = {[TILES_OF_LAYOUT] = TILE},
    [STACK_INDEX] = {[STACK_INDEX_FILE_LOCATIONS] = FILE_LOCATION, [STACK_INDEX_STACK_FRAMES] = STACK_FRAME},
    [ASSIGNMENT] = {[ASSIGNMENT_BUFFERS] = BUFFER, [ASSIGNMENT_ALLOCATIONS] = ALLOCATION, [ASSIGNMENT_TRACES] = TRACE},
    [BUFFER] = {[BUFFER_DEFINED_AT] = LOCATION},
    [ALLOCATION] = {[ALLOCATION_ASSIGNED] = ASSIGNED},
    [TRACE] = {[TRACE_EVENTS] = EVENT},
};

static void walk_message(struct bytes blob, enum message kind, int depth, struct wire_walk *walk) {
    struct wire w = wire_open(blob);
    struct wire_field field;
    while (wire_next(&w, &field)) {
        walk->field_count++;
        walk->checksum += field.number + field.value + field.payload.size;
        if (field.type != WIRE_LEN || field.number >= WALKED_FIELDS || depth == DEEPEST) continue;
        enum message next = (enum message)inner[kind][field.number];
        if (next != NO_MESSAGE) walk_message(field.payload, next, depth + 1, walk);
    }
    if (w.fault) walk->is_damaged = true;
}

struct wire_walk wire_walk_hlo_proto(struct bytes blob) {
    struct wire_walk walk = {0};
    walk_message(blob, HLO_PROTO, 0, &walk);
    return walk;
}
