#include "analysis/advice/data_kind.h"

enum { TOKENS_RANK = 2, FRAMES_RANK = 3 };

static bool is_integer(const struct array_shape *shape) {
    enum { FIRST_INTEGER = 2, LAST_INTEGER = 9 };
    return shape->element_type >= FIRST_INTEGER && shape->element_type <= LAST_INTEGER;
}

bool data_kind_is_words(const struct array_shape *shape) {
    return array_is(shape) && is_integer(shape) && shape->rank == TOKENS_RANK;
}

struct data_kind data_kind_of(const struct advisor *advisor) {
    struct data_kind kind = {0};
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        uint32_t leaf = advisor->roles.inputs[i].leaf;
        if (leaf == HLO_NONE || !advisor->batch.marks[leaf]) continue;
        const struct array_shape *shape = &advisor->graph.leaves[leaf];
        kind.has_tokens |= is_integer(shape) && shape->rank >= TOKENS_RANK;
        kind.has_frames |= !is_integer(shape) && shape->rank >= FRAMES_RANK;
    }
    return kind;
}
