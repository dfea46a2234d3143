// A shape as XLA prints it, as a ShapeProto. Private to hlo_text_*; shape.h goes the other way.
//
//     f32[2050,<=129]{1,0:T(8,128)(2,1)S(1)}        (f32[8]{0}, /*index=1*/token[])        s32[]
#pragma once

#include "analysis/base/error.h"
#include "analysis/base/text_writer.h"

// Where the shape at the left of `text` ends: a tuple at its bracket, an array before the next space.
MUST_USE bool hlo_text_take_shape(struct bytes *text, struct bytes *shape);

// Writes the shape as the field `field`. What it does not know of a layout it passes over; a shape of an unknown type,
// or nested deeper than HLO_TEXT_SHAPE_DEPTH, is written as far as it goes.
void hlo_text_encode_shape(struct text_writer *w, uint32_t field, struct bytes shape);

enum { HLO_TEXT_SHAPE_DEPTH = 30 };
