#include "analysis/program/hlo_line.h"

#include "analysis/hlo/shape.h"
#include "proto/hlo_fields.h"
#include "proto/wire.h"

static void put_name(struct text_writer *text, struct bytes name) {
    text_put(text, "%");
    text_put_bytes(text, name.size ? name : BYTES("?"));
}

// As in C: what would end the string is escaped.
static void put_quoted(struct text_writer *text, const char *before, struct bytes value) {
    text_put(text, before);
    text_put(text, "\"");
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] == '"' || value.data[i] == '\\') text_put(text, "\\");
        text_put_bytes(text, (struct bytes){value.data + i, 1});
    }
    text_put(text, "\"");
}

// --- Operands ---

static void put_operands(struct text_writer *text, const struct program_graph *graph, const struct graph_node *node) {
    if (node->opcode == OPCODE_PARAMETER) text_put_int64(text, node->number);
    if (node->opcode == OPCODE_CONSTANT) text_put(text, "{...}");
    for (uint32_t i = 0; i < node->operand_count; i++) {
        uint32_t operand = graph_operand(graph, node, i);
        if (i) text_put(text, ", ");
        put_name(text, operand == HLO_NONE ? (struct bytes){0} : hlo_instruction_read(graph->module, operand).name);
    }
}

// --- Attributes ---

static void put_dimensions(struct text_writer *text, struct bytes message) {
    struct wire w = wire_open(message);
    bool has_any = false;
    for (struct wire_field f; wire_next(&w, &f);) {
        if (f.number != HLO_INSTRUCTION_DIMENSIONS) continue;
        struct wire packed = wire_open_packed(&f);
        uint64_t value = f.value;
        for (bool is_one = f.type == WIRE_VARINT; is_one || wire_next_varint(&packed, &value); is_one = false) {
            text_put(text, has_any ? "," : ", dimensions={");
            text_put_int64(text, (int64_t)value);
            has_any = true;
        }
    }
    if (has_any) text_put(text, "}");
}

static void put_called_one(struct text_writer *text, const struct program_graph *graph, const struct graph_node *node,
                           uint32_t i, const char *attribute) {
    uint32_t computation = graph->called[node->first_called + i];
    text_put(text, attribute);
    put_name(text, computation == HLO_NONE ? (struct bytes){0} : graph->module->computation_names[computation]);
}

// Which attribute names a called computation (HloInstruction::PrintExtraAttributes, xla/hlo/ir/hlo_instruction.cc).
static void put_called(struct text_writer *text, const struct program_graph *graph, const struct graph_node *node,
                       struct bytes opcode) {
    bool is_loop = node->opcode == OPCODE_WHILE && node->called_count == 2;
    bool is_list = node->called_count > 1 && !is_loop;
    bool calls = node->opcode == OPCODE_FUSION || bytes_equal(opcode, BYTES("async-start"));
    if (is_loop) {
        put_called_one(text, graph, node, 1, ", condition=");
        put_called_one(text, graph, node, 0, ", body=");
        return;
    }
    if (is_list)
        text_put(text, node->opcode == OPCODE_CONDITIONAL ? ", branch_computations={" : ", called_computations={");
    for (uint32_t i = 0; i < node->called_count; i++)
        put_called_one(text, graph, node, i, is_list ? (i ? ", " : "") : calls ? ", calls=" : ", to_apply=");
    if (is_list) text_put(text, "}");
}

static void put_attributes(struct text_writer *text, const struct program_graph *graph, const struct graph_node *node,
                           struct bytes opcode) {
    struct bytes kind = wire_find_message(node->message, HLO_INSTRUCTION_FUSION_KIND);
    struct bytes target = wire_find_message(node->message, HLO_INSTRUCTION_CUSTOM_CALL_TARGET);
    put_dimensions(text, node->message);
    if (node->opcode == OPCODE_GET_TUPLE_ELEMENT) {
        text_put(text, ", index=");
        text_put_int64(text, node->number);
    }
    if (kind.size) {
        text_put(text, ", kind=");
        text_put_bytes(text, kind);
    }
    if (target.size) put_quoted(text, ", custom_call_target=", target);
    put_called(text, graph, node, opcode);
}

static void put_metadata(struct text_writer *text, const struct hlo_metadata *metadata) {
    const char *before = ", metadata={";
    if (metadata->op_name.size) {
        text_put(text, before);
        put_quoted(text, "op_name=", metadata->op_name);
        before = " ";
    }
    if (metadata->source_file.size) {
        text_put(text, before);
        put_quoted(text, "source_file=", metadata->source_file);
        text_put(text, " source_line=");
        text_put_int64(text, metadata->source_line);
        before = " ";
    }
    if (metadata->stack_frame_id > 0) {
        text_put(text, before);
        text_put(text, "stack_frame_id=");
        text_put_int64(text, metadata->stack_frame_id);
        before = " ";
    }
    if (before[0] == ' ') text_put(text, "}");
}

void hlo_line_put(struct text_writer *text, const struct program_graph *graph, uint32_t node) {
    const struct graph_node *of = &graph->nodes[node];
    const struct hlo_instruction instruction = hlo_instruction_read(graph->module, node);
    const struct hlo_metadata metadata = hlo_instruction_metadata(graph->module, node, instruction.metadata);
    const char *shape = shape_text(instruction.shape, text->arena);
    if (graph->computations[of->computation].root == node) text_put(text, "ROOT ");
    put_name(text, instruction.name);
    text_put(text, " = ");
    if (shape) text_put(text, shape);
    text_put(text, " ");
    text_put_bytes(text, instruction.opcode);
    text_put(text, "(");
    put_operands(text, graph, of);
    text_put(text, ")");
    put_attributes(text, graph, of, instruction.opcode);
    put_metadata(text, &metadata);
    text->has_failed |= shape == NULL;
}
