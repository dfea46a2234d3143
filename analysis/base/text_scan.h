// Reading a text piece by piece from its left: what is taken is no more in the view.
//
//     "module_0039.jit_f"    text_take "module_"    text_take_int64 -> 39    text_take "."    left: "jit_f"
//
// Each takes something; false, and the text stays, when it is not there. Views only: allocates nothing.
#pragma once

#include "proto/bytes.h"

bool text_take(struct bytes *text, struct bytes literal);
bool text_take_int64(struct bytes *text, int64_t *value);  // decimal; an overflow is no number

void text_skip(struct bytes *text, size_t count);  // at most all of it
void text_skip_spaces(struct bytes *text);

// Up to the first `end`, which stays; the whole text when there is none.
struct bytes text_take_until(struct bytes *text, uint8_t end);

// From the right: cuts the ending off a text that has something before it. False: it has another one.
bool text_cut_ending(struct bytes *text, struct bytes ending);
