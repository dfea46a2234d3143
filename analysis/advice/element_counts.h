// How many elements arrays have, each number once: what arrays of other dimensions, or other types, are alike by.
//
//     f32[192,512,512]  f32[16,12,512,512]  bf16[768,3072]   -->  50331648  2359296
//
// What comes after the first 256 is left out: whoever asks then hears no.
#pragma once

#include "analysis/hlo/shape_array.h"

enum { ELEMENT_COUNTS_MAX = 256 };

struct element_counts {
    int64_t elements[ELEMENT_COUNTS_MAX];
    int count;
};

static inline bool element_counts_has(const struct element_counts *counts, const struct array_shape *shape) {
    int64_t elements = array_shape_elements(shape);
    for (int i = 0; i < counts->count; i++) {
        if (counts->elements[i] == elements) return true;
    }
    return false;
}

static inline void element_counts_add(struct element_counts *counts, const struct array_shape *shape) {
    if (counts->count < ELEMENT_COUNTS_MAX && !element_counts_has(counts, shape))
        counts->elements[counts->count++] = array_shape_elements(shape);
}
