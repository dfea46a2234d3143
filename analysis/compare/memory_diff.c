#include "analysis/compare/memory_diff.h"

bool memory_diff_make(const struct compared_side *a, const struct compared_side *b, enum memory_group_by by,
                      struct arena *arena, struct memory_diff *diff, struct error *error) {
    *diff = (struct memory_diff){.a = *a, .b = *b};
    diff->peak_delta_bytes = b->view->peak_bytes - a->view->peak_bytes;
    diff->total_delta_bytes = b->view->totals.total_bytes - a->view->totals.total_bytes;
    if (!buffer_changes_find(a, b, arena, &diff->buffers))
        return error_set(error, ERROR_TOO_BIG, "no memory left to compare the buffers of these programs");
    return group_deltas_make(a, b, &diff->buffers, by, arena, &diff->groups, error);
}
