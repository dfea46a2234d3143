#include "analysis/memory/allocation_category.h"

enum allocation_category allocation_category_of(const struct hlo_allocation *allocation) {
    if (allocation->is_thread_local) return ALLOCATION_THREAD_LOCAL;
    if (allocation->is_entry_parameter) {
        return allocation->maybe_live_out ? ALLOCATION_DONATED : ALLOCATION_PARAMETER;
    }
    if (allocation->maybe_live_out) return ALLOCATION_OUTPUT;
    return allocation->is_constant ? ALLOCATION_CONSTANT : ALLOCATION_TEMPORARY;
}

const char *allocation_category_name(enum allocation_category category) {
    static const char *const names[ALLOCATION_CATEGORY_COUNT] = {
        [ALLOCATION_PARAMETER] = "parameter", [ALLOCATION_DONATED] = "donated",
        [ALLOCATION_OUTPUT] = "output",       [ALLOCATION_CONSTANT] = "constant",
        [ALLOCATION_TEMPORARY] = "temporary", [ALLOCATION_THREAD_LOCAL] = "thread-local",
    };
    return names[category];
}

bool allocation_is_indefinite(const struct hlo_allocation *allocation) {
    return allocation_category_of(allocation) != ALLOCATION_TEMPORARY;
}
