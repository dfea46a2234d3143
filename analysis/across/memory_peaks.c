#include "analysis/across/memory_peaks.h"

#include <stdlib.h>

static int by_name(const void *left, const void *right) {
    const struct peak_holder *a = left, *b = right;
    return bytes_compare(a->name, b->name);
}

// Sums of hostile sizes wrap around, as elsewhere.
static int64_t plus(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

void memory_peak_settle(struct memory_peak *peak) {
    uint32_t kept = 0;
    if (peak->holder_count) qsort(peak->holders, peak->holder_count, sizeof *peak->holders, by_name);
    for (uint32_t i = 0; i < peak->holder_count; i++) {
        struct peak_holder holder = peak->holders[i];
        struct peak_holder *last = kept ? &peak->holders[kept - 1] : NULL;
        if (last && bytes_equal(last->name, holder.name)) {
            last->bytes = plus(last->bytes, holder.bytes);
            if (holder.first_step < last->first_step) last->first_step = holder.first_step;
        } else {
            peak->holders[kept++] = holder;
        }
    }
    peak->holder_count = kept;
}
