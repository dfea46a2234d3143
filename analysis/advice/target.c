#include "analysis/advice/target.h"

#include "analysis/memory/allocation_category.h"

// GpuBackendConfig of xla/service/gpu/backend_configs.proto, which XLA:GPU writes beside nearly every instruction.
static bool is_for_gpu(const struct hlo_module *module) {
    for (uint32_t i = 0; i < module->instruction_count; i++) {
        if (bytes_contains(hlo_instruction_backend_config(module, i), BYTES("\"operation_queue_id\""))) return true;
    }
    return false;
}

static int64_t sum_fast(const struct hlo_module *module) {
    enum { FAST = 1, FAST_BYTES_MAX = 1 << 30 };
    int64_t bytes = 0;
    for (uint32_t i = 0; i < module->allocation_count; i++) {
        const struct hlo_allocation *a = &module->allocations[i];
        bool is_fast = a->color == FAST && allocation_category_of(a) == ALLOCATION_TEMPORARY;
        if (is_fast && a->size_bytes > 0 && a->size_bytes < FAST_BYTES_MAX) bytes += a->size_bytes;
    }
    return bytes;
}

static bool has_tiles(const struct program_graph *graph) {
    for (uint32_t leaf = 0; leaf < graph->leaf_count; leaf++) {
        if (array_is(&graph->leaves[leaf]) && graph->leaves[leaf].tile_rank) return true;
    }
    return false;
}

struct target target_of(const struct hlo_module *module, const struct program_graph *graph) {
    if (is_for_gpu(module)) return (struct target){.is_gpu = true};
    int64_t fast_bytes = sum_fast(module);
    return (struct target){.is_tpu = fast_bytes > 0 || has_tiles(graph), .fast_bytes = fast_bytes};
}
