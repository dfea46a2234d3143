#include "analysis/memory/buffer_description.h"

#include "analysis/base/text_writer.h"
#include "analysis/hlo/stack_trace.h"

static struct bytes name_with_index(const struct hlo_buffer *buffer, struct bytes instruction, struct arena *arena) {
    int64_t index[HLO_SHAPE_INDEX_MAX];
    size_t count = hlo_buffer_shape_index(buffer, index, HLO_SHAPE_INDEX_MAX);
    if (count == 0) return instruction;
    struct text_writer text = {.arena = arena};
    text_put_bytes(&text, instruction);
    text_put(&text, "{");
    for (size_t i = 0; i < count && i < HLO_SHAPE_INDEX_MAX; i++) {
        if (i) text_put(&text, ",");
        text_put_int64(&text, index[i]);
    }
    text_put(&text, "}");
    return text_writer_bytes(&text);
}

enum { RECENT_SHAPES = 1024 };

struct shape_words {
    struct bytes shape, text;
};

bool buffer_describer_init(struct buffer_describer *describer, const struct hlo_module *module,
                           enum memory_view_scope scope, struct arena *arena) {
    *describer = (struct buffer_describer){.module = module, .scope = scope, .arena = arena};
    describer->recent_shapes = arena_new(arena, struct shape_words, RECENT_SHAPES);
    return describer->recent_shapes && wide_shapes_init(&describer->wide_shapes, arena);
}

struct bytes buffer_shape_text(struct buffer_describer *describer, uint32_t buffer, struct bytes instruction_shape) {
    const struct hlo_buffer *shaped = &describer->module->buffers[buffer];
    struct wide_shapes *wide = &describer->wide_shapes;
    struct bytes shape = memory_view_shape_in(shaped, instruction_shape, describer->scope, wide);
    // XProf resolves several buffers of nested tuples to one shape, and writes it for each.
    uint32_t reader = describer->scope == MEMORY_VIEW_EXACT ? buffer : HLO_NONE;
    if (shape.size > WIDE_SHAPE_BYTES) return wide_shape_text(wide, shape, reader);
    struct shape_words *recent = &describer->recent_shapes[(uint64_t)id_map_key(shape) % RECENT_SHAPES];
    if (!recent->text.data || !bytes_equal(recent->shape, shape))
        *recent = (struct shape_words){shape, wide_shape_text(wide, shape, reader)};
    return recent->text;
}

struct bytes buffer_name(const struct buffer_describer *describer, uint32_t buffer) {
    if (buffer == HLO_NONE) return (struct bytes){0};
    const struct hlo_buffer *named = &describer->module->buffers[buffer];
    struct bytes instruction = hlo_instruction_read(describer->module, named->instruction).name;
    return name_with_index(named, instruction, describer->arena);
}

struct buffer_description buffer_describe(struct buffer_describer *describer, uint32_t buffer) {
    struct buffer_description description = {0};
    const struct hlo_module *module = describer->module;
    if (buffer == HLO_NONE || module->buffers[buffer].instruction == HLO_NONE) return description;
    const struct hlo_buffer *described = &module->buffers[buffer];
    struct hlo_instruction instruction = hlo_instruction_read(module, described->instruction);
    struct hlo_metadata metadata = hlo_instruction_metadata(module, described->instruction, instruction.metadata);
    description.instruction = instruction.name;
    description.name = name_with_index(described, instruction.name, describer->arena);
    description.opcode = instruction.opcode;
    description.computation = module->computation_names[module->instructions[described->instruction].computation];
    description.op_name = metadata.op_name;
    description.shape = buffer_shape_text(describer, buffer, instruction.shape);
    struct stack_trace_frame place = stack_trace_place(module, &metadata);
    description.source_file = place.file;
    description.source_line = place.line;
    description.stack_frame_id = metadata.stack_frame_id;
    return description;
}

struct bytes buffer_source_text(const struct buffer_description *buffer, struct arena *arena) {
    if (!buffer->source_file.size) return (struct bytes){0};
    struct text_writer text = {.arena = arena};
    text_put_bytes(&text, buffer->source_file);
    text_put(&text, ":");
    text_put_int64(&text, buffer->source_line);
    return text_writer_bytes(&text);
}
