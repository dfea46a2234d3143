#include "analysis/hlo/hlo_text_program.h"

#include "analysis/hlo/hlo_text_encode.h"
#include "analysis/hlo/hlo_text_instruction.h"
#include "analysis/hlo/hlo_text_shape.h"
#include "analysis/hlo/hlo_text_stack_frames.h"
#include "proto/hlo_fields.h"

// --- Instructions ---

uint32_t hlo_text_instruction_id(const struct hlo_text_program *program, struct bytes name) {
    return id_map_get(&program->instructions, id_map_key(name));
}

static void encode_metadata(struct hlo_text_program *p, struct bytes text) {
    struct text_metadata metadata = text_metadata_parse(text);
    if (text.size == 0) return;
    size_t mark = encode_open(p->w, HLO_INSTRUCTION_METADATA);
    encode_bytes(p->w, OP_METADATA_OP_NAME, text_unescape(metadata.op_name, p->arena));
    if (metadata.source_file.size) {
        encode_bytes(p->w, OP_METADATA_SOURCE_FILE, text_unescape(metadata.source_file, p->arena));
        encode_varint(p->w, OP_METADATA_SOURCE_LINE, (uint64_t)metadata.source_line);
    }
    if (metadata.stack_frame_id) encode_varint(p->w, OP_METADATA_STACK_FRAME_ID, (uint64_t)metadata.stack_frame_id);
    encode_close(p->w, mark);
}

static void encode_operands(struct hlo_text_program *p, struct bytes operands) {
    for (struct bytes name; text_operand_next(&operands, &name);) {
        uint32_t id = hlo_text_instruction_id(p, name);
        if (id != ID_MAP_NONE) encode_varint(p->w, HLO_INSTRUCTION_OPERAND_IDS, id);
    }
}

static void encode_details(struct hlo_text_program *p, const struct text_instruction *instruction) {
    struct bytes number = instruction->operands;
    int64_t parameter;
    bool is_parameter = bytes_equal(instruction->opcode, BYTES("parameter"));
    if (is_parameter && text_take_int64(&number, &parameter))
        encode_varint(p->w, HLO_INSTRUCTION_PARAMETER_NUMBER, (uint64_t)parameter);
    if (instruction->tuple_index) encode_varint(p->w, HLO_INSTRUCTION_TUPLE_INDEX, (uint64_t)instruction->tuple_index);
    encode_operands(p, instruction->operands);
    for (size_t i = 0; i < instruction->computation_count; i++) {
        uint32_t id = id_map_get(&p->computations, id_map_key(instruction->computations[i]));
        if (id != ID_MAP_NONE) encode_varint(p->w, HLO_INSTRUCTION_CALLED_COMPUTATION_IDS, id);
    }
    if (instruction->custom_call_target.size)
        encode_bytes(p->w, HLO_INSTRUCTION_CUSTOM_CALL_TARGET,
                     text_unescape(instruction->custom_call_target, p->arena));
    struct bytes config = instruction->backend_config;
    bool is_json = config.size && config.data[0] == '{';
    if (config.size)
        encode_bytes(p->w, HLO_INSTRUCTION_BACKEND_CONFIG, is_json ? config : text_unescape(config, p->arena));
}

// The first instruction of a name wins: texts repeat each other.
static uint32_t encode_instruction(struct hlo_text_program *p, const struct text_instruction *instruction) {
    if (!id_map_put(&p->instructions, id_map_key(instruction->name), p->instruction_count + 1)) return ID_MAP_NONE;
    size_t mark = encode_open(p->w, HLO_COMPUTATION_INSTRUCTIONS);
    encode_bytes(p->w, HLO_INSTRUCTION_NAME, instruction->name);
    encode_bytes(p->w, HLO_INSTRUCTION_OPCODE, instruction->opcode);
    hlo_text_encode_shape(p->w, HLO_INSTRUCTION_SHAPE, instruction->shape);
    encode_metadata(p, instruction->metadata);
    encode_varint(p->w, HLO_INSTRUCTION_ID, ++p->instruction_count);
    encode_details(p, instruction);
    encode_close(p->w, mark);
    return p->instruction_count;
}

// --- Computations ---

// "[ENTRY ]%main.4 (x.1: f32[8]) -> f32[8] {"
static bool read_head(struct bytes line, struct bytes *name, bool *is_entry) {
    *is_entry = text_take(&line, BYTES("ENTRY "));
    if (!bytes_ends_with(line, BYTES("{")) || (!text_take(&line, BYTES("%")) && !*is_entry)) return false;
    *name = text_take_until(&line, ' ');
    return name->size > 0;
}

static void encode_computation(struct hlo_text_program *p, struct text_lines *lines, struct bytes name) {
    size_t mark = encode_open(p->w, HLO_MODULE_COMPUTATIONS);
    struct text_instruction instruction;
    struct bytes line;
    encode_bytes(p->w, HLO_COMPUTATION_NAME, name);
    encode_varint(p->w, HLO_COMPUTATION_ID, ++p->computation_count);
    id_map_put(&p->computations, id_map_key(name), p->computation_count);
    while (text_lines_next(lines, &line) && !bytes_starts_with(line, BYTES("}"))) {
        if (!text_instruction_parse(line, &instruction)) continue;
        uint32_t id = encode_instruction(p, &instruction);
        if (instruction.is_root && id != ID_MAP_NONE) encode_varint(p->w, HLO_COMPUTATION_ROOT_ID, id);
    }
    encode_close(p->w, mark);
}

// "HloModule jit_f, is_scheduled=true, ...", after empty lines.
static bool encode_module_name(struct hlo_text_program *p, struct text_lines *lines, struct error *error) {
    struct bytes line = {0};
    bool has_line = text_lines_next(lines, &line);
    while (has_line && line.size == 0) has_line = text_lines_next(lines, &line);
    if (!has_line || !text_take(&line, BYTES("HloModule ")))
        return text_lines_fault(lines, "expected \"HloModule name, ...\"", error);
    struct bytes word = text_take_until(&line, ' ');
    encode_bytes(p->w, HLO_MODULE_NAME, text_take_until(&word, ','));
    return true;
}

static bool encode_module(struct hlo_text_program *p, const struct hlo_text_file *file, struct error *error) {
    struct text_lines lines = text_lines_open(file);
    if (!encode_module_name(p, &lines, error)) return false;
    hlo_text_encode_stack_frames(p->w, lines, p->arena);
    for (struct bytes line, name; text_lines_next(&lines, &line);) {
        bool is_entry;
        if (!read_head(line, &name, &is_entry)) continue;
        encode_computation(p, &lines, name);
        if (!is_entry) continue;
        encode_bytes(p->w, HLO_MODULE_ENTRY_COMPUTATION_NAME, name);
        encode_varint(p->w, HLO_MODULE_ENTRY_COMPUTATION_ID, p->computation_count);
    }
    return true;
}

// --- Where the program's text is missing ---

// " from instruction: %tanh.3 = ..." of the values' texts.
static void encode_mentioned(struct hlo_text_program *p, const struct hlo_text_file *file) {
    struct text_lines lines = text_lines_open(file);
    struct text_instruction instruction;
    for (struct bytes line; text_lines_next(&lines, &line);) {
        if (text_take(&line, BYTES(" from instruction: ")) && text_instruction_parse(line, &instruction))
            (void)encode_instruction(p, &instruction);
    }
}

static void encode_missing(struct hlo_text_program *p, const struct hlo_text *texts,
                           const struct hlo_text_assignment *assignment) {
    size_t mark = encode_open(p->w, HLO_MODULE_COMPUTATIONS);
    encode_mentioned(p, &texts->values);
    encode_mentioned(p, &texts->assignment);
    for (size_t i = 0; i < assignment->value_count; i++) {
        const struct hlo_text_value *value = &assignment->values[i];
        if (hlo_text_instruction_id(p, value->name) != ID_MAP_NONE) continue;
        struct text_instruction stand_in = {.name = value->whole, .shape = value->shape};
        (void)encode_instruction(p, &stand_in);
    }
    encode_close(p->w, mark);
}

// --- The whole ---

// How many instructions and computations a text may name: each has a " = " or a "{" at the end of its line.
static size_t count_names(struct bytes text) {
    size_t count = 1;
    for (size_t at = 1; at < text.size; at++) {
        bool is_name = text.data[at - 1] == ' ' && text.data[at] == '=';
        bool is_head = text.data[at - 1] == '{' && (text.data[at] == '\n' || text.data[at] == '\r');
        count += is_name || is_head;
    }
    return count;
}

bool hlo_text_encode_program(const struct hlo_text *texts, const struct hlo_text_assignment *assignment,
                             struct hlo_text_program *program, struct error *error) {
    size_t names = count_names(texts->program.text), mentioned = count_names(texts->values.text);
    size_t all = names + mentioned + count_names(texts->assignment.text) + assignment->value_count;
    if (!id_map_init(&program->instructions, program->arena, all) ||
        !id_map_init(&program->computations, program->arena, names)) {
        return error_set(error, ERROR_TOO_BIG, "no memory left for the names of the program");
    }
    if (texts->program.path && !encode_module(program, &texts->program, error)) return false;
    encode_missing(program, texts, assignment);
    return true;
}
