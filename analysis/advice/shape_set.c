#include "analysis/advice/shape_set.h"

bool shape_set_has(const struct shape_set *set, const struct array_shape *shape) {
    for (uint32_t i = 0; i < set->count; i++) {
        if (array_same_dimensions(set->shapes[i], shape)) return true;
    }
    return false;
}

void shape_set_add(struct shape_set *set, const struct array_shape *shape) {
    if (set->count < SHAPE_SET_MAX && !shape_set_has(set, shape)) set->shapes[set->count++] = shape;
}
