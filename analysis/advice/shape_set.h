// A few dimensions, each once: of arrays that something is told of whatever their type, their order in memory, and how
// many there are.
//
//     f32[50257,768]  bf16[50257,768]  f32[1024,768]   --> [50257,768] [1024,768]
//
// Borrows the shapes. What comes after the first 64 is left out: whoever asks then hears no.
#pragma once

#include "analysis/hlo/shape_array.h"

enum { SHAPE_SET_MAX = 64 };

struct shape_set {
    const struct array_shape *shapes[SHAPE_SET_MAX];
    uint32_t count;
};

bool shape_set_has(const struct shape_set *set, const struct array_shape *shape);
void shape_set_add(struct shape_set *set, const struct array_shape *shape);
