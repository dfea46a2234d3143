#include "analysis/advice/mixed_sizes.h"

// Of [examples, height, width, channels]; 0: no such array.
static double pixels_of(const struct residual_group *group) {
    enum { PICTURES_RANK = 4 };
    const struct array_shape *shape = &group->shape;
    if (shape->rank != PICTURES_RANK) return 0;
    return (double)shape->dimensions[1] * (double)shape->dimensions[2];
}

// Of the pictures that a stage keeps, the bytes of those that are as large as one of them, within a factor of two.
static double bytes_as_large(const struct residuals *residuals, const struct block_stages *stages, uint8_t stage,
                             double pixels) {
    const double twice = 2;
    double bytes = 0;
    for (uint32_t g = 0; g < residuals->group_count; g++) {
        const struct residual_group *group = &residuals->groups[g];
        double own = pixels_of(group);
        bool is_its = group->is_block && !group->is_joined && stages->stage_of_group[g] == stage && own > 0;
        if (is_its && own <= twice * pixels && pixels <= twice * own) bytes += residual_group_bytes(group);
    }
    return bytes;
}

bool mixed_sizes_are_in(const struct residuals *residuals, const struct block_stages *stages, uint8_t stage) {
    const double most_of_it = 0.6;
    double largest = 0, all = 0;
    for (uint32_t g = 0; g < residuals->group_count; g++) {
        const struct residual_group *group = &residuals->groups[g];
        bool is_its = group->is_block && !group->is_joined && stages->stage_of_group[g] == stage;
        if (!is_its || pixels_of(group) <= 0) continue;
        double alike = bytes_as_large(residuals, stages, stage, pixels_of(group));
        all += residual_group_bytes(group);
        if (alike > largest) largest = alike;
    }
    return largest < most_of_it * all;
}
