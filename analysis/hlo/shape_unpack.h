// One ShapeProto unpacked by protobuf-c into an arena. Private to analysis/hlo: its types go no further.
#pragma once

#include "analysis/base/arena.h"
#include "proto/hlo.pb-c.h"

enum { SHAPE_MAX_DEPTH = 32, SHAPE_MAX_BYTES = 1 << 20 };

// NULL when the shape is damaged, nested deeper than SHAPE_MAX_DEPTH, larger than SHAPE_MAX_BYTES, or the arena is at
// its limit.
const Hbmview__ShapeProto *shape_unpack(struct bytes shape, struct arena *arena);
