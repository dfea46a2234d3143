#include "analysis/hlo/instruction_lookup.h"

// Looking ahead may cost as much as two walks over all instructions, however the buffers are ordered.
enum { WALKS_MAX = 2 };

static uint32_t look_ahead(struct instruction_lookup *lookup, int64_t id) {
    const struct hlo_module *module = lookup->module;
    uint64_t most = (uint64_t)WALKS_MAX * module->instruction_count;
    for (uint32_t i = lookup->last; i < module->instruction_count && lookup->steps < most; i++, lookup->steps++) {
        if (module->instructions[i].id == id) return i;
    }
    return HLO_NONE;
}

static bool index_ids(struct instruction_lookup *lookup) {
    const struct hlo_module *module = lookup->module;
    if (lookup->by_id.slots) return true;
    if (!id_map_init(&lookup->by_id, lookup->arena, module->instruction_count)) return false;
    for (uint32_t i = 0; i < module->instruction_count; i++) id_map_put(&lookup->by_id, module->instructions[i].id, i);
    return true;
}

bool instruction_by_id(struct instruction_lookup *lookup, int64_t id, uint32_t *instruction) {
    *instruction = look_ahead(lookup, id);
    if (*instruction == HLO_NONE) {
        if (!index_ids(lookup)) return false;
        *instruction = id_map_get(&lookup->by_id, id);
    }
    if (*instruction != HLO_NONE) lookup->last = *instruction;
    return true;
}

static bool index_names(struct instruction_lookup *lookup) {
    const struct hlo_module *module = lookup->module;
    if (lookup->by_name.slots) return true;
    if (!id_map_init(&lookup->by_name, lookup->arena, module->instruction_count)) return false;
    for (uint32_t i = 0; i < module->instruction_count; i++) {
        id_map_put(&lookup->by_name, id_map_key(hlo_instruction_read(module, i).name), i);
    }
    return true;
}

bool instruction_by_name(struct instruction_lookup *lookup, struct bytes name, uint32_t *instruction) {
    *instruction = HLO_NONE;
    if (!index_names(lookup)) return false;
    uint32_t found = id_map_get(&lookup->by_name, id_map_key(name));
    bool is_it = found != HLO_NONE && bytes_equal(hlo_instruction_read(lookup->module, found).name, name);
    if (is_it) *instruction = found;
    return true;
}
