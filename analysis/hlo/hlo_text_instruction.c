#include "analysis/hlo/hlo_text_instruction.h"

#include "analysis/hlo/hlo_text_shape.h"

// --- Attributes: ", key=value" again and again ---

// A value: in brackets, in quotes, or up to the next comma. Brackets and quotes that do not close end the line.
static struct bytes take_value(struct bytes *text) {
    struct bytes inside = {0};
    bool is_quoted = text->size && text->data[0] == '"';
    if (!is_quoted && !text_is_bracket(*text)) return text_take_until(text, ',');
    bool is_whole = is_quoted ? text_take_quoted(text, &inside) : text_take_brackets(text, &inside);
    if (!is_whole) text_skip(text, text->size);
    return inside;
}

static struct bytes without_percent(struct bytes name) {
    text_take(&name, BYTES("%"));
    return name;
}

static void add_computation(struct text_instruction *instruction, struct bytes name) {
    size_t most = sizeof instruction->computations / sizeof *instruction->computations;
    if (instruction->computation_count == most) return;
    instruction->computations[instruction->computation_count++] = without_percent(name);
}

static bool names_computation(struct bytes key) {
    return bytes_equal(key, BYTES("calls")) || bytes_equal(key, BYTES("to_apply")) || bytes_equal(key, BYTES("body")) ||
           bytes_equal(key, BYTES("condition"));
}

static void keep_attribute(struct text_instruction *instruction, struct bytes key, struct bytes value) {
    if (bytes_equal(key, BYTES("metadata"))) {
        instruction->metadata = value;
    } else if (bytes_equal(key, BYTES("backend_config"))) {
        instruction->backend_config = value;
        bool is_json = value.size && value.data[-1] == '{';
        if (is_json) instruction->backend_config = (struct bytes){value.data - 1, value.size + 2};
    } else if (bytes_equal(key, BYTES("custom_call_target"))) {
        instruction->custom_call_target = value;
    } else if (bytes_equal(key, BYTES("index"))) {
        (void)text_take_int64(&value, &instruction->tuple_index);
    } else if (names_computation(key)) {
        add_computation(instruction, value);
    }
}

static void read_attributes(struct bytes text, struct text_instruction *instruction) {
    while (text_take(&text, BYTES(","))) {
        text_skip_spaces(&text);
        struct bytes rest = text, key = text_take_until(&rest, '=');
        if (!text_take(&rest, BYTES("="))) return;
        keep_attribute(instruction, key, take_value(&rest));
        text = rest;
        (void)text_take_until(&text, ',');
    }
}

bool text_instruction_parse(struct bytes line, struct text_instruction *instruction) {
    *instruction = (struct text_instruction){0};
    text_skip_spaces(&line);
    instruction->is_root = text_take(&line, BYTES("ROOT "));
    text_take(&line, BYTES("%"));
    instruction->name = text_take_until(&line, ' ');
    if (instruction->name.size == 0 || !text_take(&line, BYTES(" = "))) return false;
    if (!hlo_text_take_shape(&line, &instruction->shape)) return false;
    text_skip_spaces(&line);
    instruction->opcode = text_take_until(&line, '(');
    if (!text_take_brackets(&line, &instruction->operands)) return instruction->opcode.size > 0;
    read_attributes(line, instruction);
    return instruction->opcode.size > 0;
}

// --- Metadata: key=value, between spaces ---

static struct bytes take_word(struct bytes *text) {
    struct bytes inside = {0};
    bool is_quoted = text->size && text->data[0] == '"';
    if (!is_quoted && !text_is_bracket(*text)) return text_take_until(text, ' ');
    bool is_whole = is_quoted ? text_take_quoted(text, &inside) : text_take_brackets(text, &inside);
    if (!is_whole) text_skip(text, text->size);
    return inside;
}

struct text_metadata text_metadata_parse(struct bytes metadata) {
    struct text_metadata result = {0};
    while (metadata.size) {
        text_skip_spaces(&metadata);
        struct bytes key = text_take_until(&metadata, '=');
        if (!text_take(&metadata, BYTES("="))) break;
        struct bytes value = take_word(&metadata);
        if (bytes_equal(key, BYTES("op_name"))) result.op_name = value;
        if (bytes_equal(key, BYTES("source_file"))) result.source_file = value;
        if (bytes_equal(key, BYTES("source_line"))) (void)text_take_int64(&value, &result.source_line);
        if (bytes_equal(key, BYTES("stack_frame_id"))) (void)text_take_int64(&value, &result.stack_frame_id);
    }
    return result;
}

bool text_operand_next(struct bytes *operands, struct bytes *name) {
    (void)text_take_until(operands, '%');
    if (!text_take(operands, BYTES("%"))) return false;
    size_t size = 0;
    while (size < operands->size && operands->data[size] != ',' && operands->data[size] != ' ') size++;
    *name = (struct bytes){operands->data, size};
    text_skip(operands, size);
    return true;
}
