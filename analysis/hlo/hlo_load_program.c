#include "analysis/hlo/hlo_load_program.h"

#include "analysis/hlo/hlo_message.h"
#include "proto/hlo_fields.h"

enum { AHEAD_BYTES = 1024 };  // from part to part are jumps, each of which would wait for memory

// Of the bytes of a program a row of these columns takes: the fewest seen.
enum { INSTRUCTION_BYTES = 128, COMPUTATION_BYTES = 1024 };

struct program_loader {
    struct hlo_module *module;
    struct error *error;
    struct hlo_column computation_names, instructions, long_instructions;
};

// Most of an instruction comes after its id and is not looked at; an instruction without one gets 0.
static bool read_instruction_id(struct bytes blob, struct bytes message, int64_t *id, struct error *error) {
    struct wire w = wire_open(message);
    uint64_t value = 0;
    bool is_found = wire_find_varint(&w, HLO_INSTRUCTION_ID, &value);
    *id = is_found ? (int64_t)value : 0;
    return !w.fault || hlo_message_fault(error, blob, &w, "HloInstructionProto");
}

static bool add_long_instruction(struct program_loader *loader, struct hlo_instruction_ref *ref) {
    struct hlo_long_instruction *row = hlo_column_push(&loader->long_instructions);
    if (!row) return hlo_message_too_big(loader->error, loader->long_instructions.arena);
    *row = hlo_long_instruction_read(ref->message);
    ref->long_index = loader->long_instructions.count - 1;
    return true;
}

static bool add_instruction(struct program_loader *loader, struct bytes message) {
    struct hlo_instruction_ref *ref = hlo_column_push(&loader->instructions);
    if (!ref) return hlo_message_too_big(loader->error, loader->instructions.arena);
    *ref = (struct hlo_instruction_ref){
        .message = message, .computation = loader->computation_names.count - 1, .long_index = HLO_NONE};
    if (!read_instruction_id(loader->module->blob, message, &ref->id, loader->error)) return false;
    return message.size <= HLO_LONG_INSTRUCTION_BYTES || add_long_instruction(loader, ref);
}

static bool add_computation(struct program_loader *loader, struct bytes message) {
    struct bytes *name = hlo_column_push(&loader->computation_names);
    struct wire w = wire_open(message);
    struct wire_field f;
    if (!name) return hlo_message_too_big(loader->error, loader->computation_names.arena);
    *name = (struct bytes){0};
    while (wire_next(&w, &f)) {
        if (f.type != WIRE_LEN) continue;
        __builtin_prefetch(w.at + AHEAD_BYTES);
        if (f.number == HLO_COMPUTATION_NAME) *name = f.payload;
        if (f.number == HLO_COMPUTATION_INSTRUCTIONS && !add_instruction(loader, f.payload)) return false;
    }
    return !w.fault || hlo_message_fault(loader->error, loader->module->blob, &w, "HloComputationProto");
}

static bool start_columns(struct program_loader *loader, struct arena *arena, size_t bytes) {
    return hlo_column_start(&loader->computation_names, arena, sizeof(struct bytes), bytes, COMPUTATION_BYTES) &&
           hlo_column_start(&loader->instructions, arena, sizeof(struct hlo_instruction_ref), bytes,
                            INSTRUCTION_BYTES) &&
           hlo_column_start(&loader->long_instructions, arena, sizeof(struct hlo_long_instruction), bytes,
                            HLO_LONG_INSTRUCTION_BYTES);
}

static void take_columns(const struct program_loader *loader, struct hlo_module *module) {
    module->computation_names = loader->computation_names.rows;
    module->computation_count = loader->computation_names.count;
    module->instructions = loader->instructions.rows;
    module->instruction_count = loader->instructions.count;
    module->long_instructions = loader->long_instructions.rows;
}

bool hlo_load_program(struct bytes message, struct arena *arena, struct hlo_module *module, struct error *error) {
    struct program_loader loader = {.module = module, .error = error};
    struct wire w = wire_open(message);
    struct wire_field f;
    if (!start_columns(&loader, arena, message.size)) return hlo_message_too_big(error, arena);
    while (wire_next(&w, &f)) {
        if (f.type != WIRE_LEN) continue;
        if (f.number == HLO_MODULE_NAME) module->name = f.payload;
        if (f.number == HLO_MODULE_ENTRY_COMPUTATION_NAME) module->entry_computation_name = f.payload;
        if (f.number == HLO_MODULE_STACK_FRAME_INDEX) module->stack_frame_index = f.payload;
        if (f.number == HLO_MODULE_COMPUTATIONS && !add_computation(&loader, f.payload)) return false;
    }
    take_columns(&loader, module);
    return !w.fault || hlo_message_fault(error, module->blob, &w, "HloModuleProto");
}
