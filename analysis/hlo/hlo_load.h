// The two halves of loading an HloProto (hlo_module.h): the program, and its buffer assignment. Private to this room.
//
// Both count first and fill exactly sized arrays after, so a hostile count cannot ask for more than a fixed multiple of
// the blob's own size.
#pragma once

#include "analysis/hlo/hlo_module.h"
#include "proto/wire.h"

// computations, instructions, stack frames
MUST_USE bool hlo_load_program(struct bytes message, struct arena *arena, struct hlo_module *module,
                               struct error *error);

// buffers, allocations, traces; needs the program's instructions. An empty message leaves all counts zero.
MUST_USE bool hlo_load_assignment(struct bytes message, struct arena *arena, struct hlo_module *module,
                                  struct error *error);

MUST_USE bool hlo_load_stack_frames(struct bytes message, struct arena *arena, struct hlo_module *module,
                                    struct error *error);

// Turns a cursor's fault into an error with the offset inside `blob`; returns false.
bool hlo_load_fault(struct error *error, struct bytes blob, const struct wire *w, const char *message_name);

// A module too big for its arena; returns false.
bool hlo_load_too_big(struct error *error, const struct arena *arena);

// How often the length-delimited field `number` occurs in `message`.
MUST_USE bool hlo_load_count(struct bytes blob, struct bytes message, uint32_t number, const char *message_name,
                             uint32_t *count, struct error *error);
