#include "analysis/hlo/hlo_load_program.h"

#include "analysis/hlo/hlo_message.h"
#include "proto/hlo_fields.h"

bool hlo_program_count(struct bytes message, struct hlo_module *module, struct error *error) {
    struct wire w = wire_open(message);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.number != HLO_MODULE_COMPUTATIONS || f.type != WIRE_LEN) continue;
        module->computation_count++;
        if (!hlo_message_count(module->blob, f.payload, HLO_COMPUTATION_INSTRUCTIONS, "HloComputationProto",
                               &module->instruction_count, error)) {
            return false;
        }
    }
    return !w.fault || hlo_message_fault(error, module->blob, &w, "HloModuleProto");
}

// Most of an instruction comes after its id and is not looked at; an instruction without one gets 0.
static bool read_instruction_id(struct bytes blob, struct bytes message, int64_t *id, struct error *error) {
    struct wire w = wire_open(message);
    uint64_t value = 0;
    bool is_found = wire_find_varint(&w, HLO_INSTRUCTION_ID, &value);
    *id = is_found ? (int64_t)value : 0;
    return !w.fault || hlo_message_fault(error, blob, &w, "HloInstructionProto");
}

static bool add_computation(struct bytes message, uint32_t computation, uint32_t *next_instruction,
                            struct hlo_module *module, struct error *error) {
    struct wire w = wire_open(message);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.type != WIRE_LEN) continue;
        if (f.number == HLO_COMPUTATION_NAME) module->computation_names[computation] = f.payload;
        if (f.number != HLO_COMPUTATION_INSTRUCTIONS) continue;
        struct hlo_instruction_ref *ref = &module->instructions[*next_instruction];
        *ref = (struct hlo_instruction_ref){.message = f.payload, .computation = computation, .long_index = HLO_NONE};
        if (!read_instruction_id(module->blob, f.payload, &ref->id, error)) return false;
        (*next_instruction)++;
    }
    return true;  // hlo_program_count has met every fault of this message already
}

bool hlo_program_columns(struct arena *arena, struct hlo_module *module) {
    module->computation_names = arena_new(arena, struct bytes, module->computation_count);
    module->instructions = arena_push_raw(arena, module->instruction_count, sizeof *module->instructions);
    return module->computation_names && module->instructions;
}

bool hlo_program_fill(struct bytes message, struct hlo_module *module, struct error *error) {
    uint32_t computation = 0, instruction = 0;
    struct wire w = wire_open(message);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.type != WIRE_LEN) continue;
        if (f.number == HLO_MODULE_NAME) module->name = f.payload;
        if (f.number == HLO_MODULE_ENTRY_COMPUTATION_NAME) module->entry_computation_name = f.payload;
        if (f.number == HLO_MODULE_STACK_FRAME_INDEX) module->stack_frame_index = f.payload;
        if (f.number != HLO_MODULE_COMPUTATIONS) continue;
        if (!add_computation(f.payload, computation++, &instruction, module, error)) return false;
    }
    return true;
}
