#include "analysis/advice/short_memory.h"

#include "analysis/base/device_kinds.h"

#define ROOMY_PART 0.8425  // of a chip's memory
#define FILLED_FROM 0.84
#define FILLED_TO 1.08
#define TOO_SMALL 0.3  // of what the program needs: nobody would try it on such a chip

int64_t short_memory_bytes(int64_t roomy_bytes, int64_t squeezed_bytes) {
    int64_t most = (int64_t)(TOO_SMALL * (double)roomy_bytes);
    bool is_known = false;
    for (size_t i = 0; i < device_kind_count; i++) {
        const struct device_kind *kind = &device_kinds[i];
        double memory = (double)device_kind_usable_bytes(kind);
        int64_t limit = (int64_t)(ROOMY_PART * memory);
        if (!kind->is_of_compiler || limit >= roomy_bytes || limit <= most) continue;
        if (squeezed_bytes && (double)squeezed_bytes < FILLED_FROM * memory) continue;
        is_known = true;
        most = limit;
    }
    return is_known ? most : 0;
}

bool short_memory_is_filled(int64_t squeezed_bytes) {
    for (size_t i = 0; i < device_kind_count; i++) {
        double memory = (double)device_kind_usable_bytes(&device_kinds[i]), bytes = (double)squeezed_bytes;
        if (device_kinds[i].is_of_compiler && bytes >= FILLED_FROM * memory && bytes <= FILLED_TO * memory) return true;
    }
    return false;
}
