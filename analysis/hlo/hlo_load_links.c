#include "analysis/hlo/hlo_load_links.h"

#include "analysis/hlo/hlo_message.h"
#include "proto/hlo_fields.h"

struct lookup {
    const struct hlo_module *module;
    struct arena scratch;
    uint32_t last;
    uint64_t steps;                // spent on looking ahead
    struct id_map by_id, by_name;  // made at the first need
};

// Looking ahead may cost as much as two walks over all instructions, however the buffers are ordered.
enum { WALKS_MAX = 2 };

static uint32_t look_ahead(struct lookup *lookup, int64_t id) {
    const struct hlo_module *module = lookup->module;
    uint64_t most = (uint64_t)WALKS_MAX * module->instruction_count;
    for (uint32_t i = lookup->last; i < module->instruction_count && lookup->steps < most; i++, lookup->steps++) {
        if (module->instructions[i].id == id) return i;
    }
    return HLO_NONE;
}

static bool index_ids(struct lookup *lookup) {
    const struct hlo_module *module = lookup->module;
    if (lookup->by_id.slots) return true;
    if (!id_map_init(&lookup->by_id, &lookup->scratch, module->instruction_count)) return false;
    for (uint32_t i = 0; i < module->instruction_count; i++) id_map_put(&lookup->by_id, module->instructions[i].id, i);
    return true;
}

static bool find_by_id(struct lookup *lookup, int64_t id, uint32_t *instruction) {
    *instruction = look_ahead(lookup, id);
    if (*instruction == HLO_NONE) {
        if (!index_ids(lookup)) return false;
        *instruction = id_map_get(&lookup->by_id, id);
    }
    if (*instruction != HLO_NONE) lookup->last = *instruction;
    return true;
}

static bool index_names(struct lookup *lookup) {
    const struct hlo_module *module = lookup->module;
    if (lookup->by_name.slots) return true;
    if (!id_map_init(&lookup->by_name, &lookup->scratch, module->instruction_count)) return false;
    for (uint32_t i = 0; i < module->instruction_count; i++) {
        id_map_put(&lookup->by_name, id_map_key(hlo_instruction_read(module, i).name), i);
    }
    return true;
}

static bool find_by_name(struct lookup *lookup, struct bytes name, uint32_t *instruction) {
    *instruction = HLO_NONE;
    if (!index_names(lookup)) return false;
    uint32_t found = id_map_get(&lookup->by_name, id_map_key(name));
    bool is_it = found != HLO_NONE && bytes_equal(hlo_instruction_read(lookup->module, found).name, name);
    if (is_it) *instruction = found;
    return true;
}

static bool find_instruction(struct lookup *lookup, struct bytes defined_at, uint32_t *instruction,
                             struct error *error) {
    struct wire w = wire_open(defined_at);
    struct wire_field f;
    struct bytes name = {0};
    int64_t id = 0;
    bool has_id = false, has_room = true;
    while (wire_next(&w, &f)) {
        if (f.number == LOCATION_INSTRUCTION_NAME) name = f.payload;
        if (f.number != LOCATION_INSTRUCTION_ID) continue;
        id = wire_int64(&f);
        has_id = true;
    }
    if (w.fault) return hlo_message_fault(error, lookup->module->blob, &w, "LogicalBufferProto.Location");
    if (has_id) has_room = find_by_id(lookup, id, instruction);
    if (*instruction == HLO_NONE && name.size) has_room = find_by_name(lookup, name, instruction);
    return has_room || hlo_message_too_big(error, &lookup->scratch);
}

bool hlo_load_links(size_t scratch_limit_bytes, struct hlo_module *module, struct error *error) {
    struct lookup lookup = {.module = module};
    bool is_good = true;
    arena_init(&lookup.scratch, scratch_limit_bytes);
    for (uint32_t i = 0; i < module->buffer_count && is_good; i++) {
        is_good = find_instruction(&lookup, module->buffers[i].defined_at, &module->buffers[i].instruction, error);
    }
    arena_free(&lookup.scratch);
    return is_good;
}
