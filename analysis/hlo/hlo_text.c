#include "analysis/hlo/hlo_text.h"

#include "analysis/hlo/hlo_load.h"
#include "analysis/hlo/hlo_text_encode.h"
#include "analysis/hlo/hlo_text_live_range.h"
#include "analysis/hlo/hlo_text_program.h"
#include "proto/hlo_fields.h"

static const size_t SCRATCH_LIMIT_BYTES = (size_t)4 << 30;

// "1,0", each a varint.
static void encode_index(struct text_writer *w, struct bytes index) {
    int64_t element;
    for (; text_take_int64(&index, &element); text_take(&index, BYTES(",")))
        encode_varint(w, LOCATION_SHAPE_INDEX, (uint64_t)element);
}

static void encode_location(struct text_writer *w, const struct hlo_text_program *program,
                            const struct hlo_text_value *value) {
    uint32_t id = hlo_text_instruction_id(program, value->name);
    size_t mark = encode_open(w, BUFFER_DEFINED_AT);
    if (id != ID_MAP_NONE) encode_index(w, value->index);
    if (id == ID_MAP_NONE) id = hlo_text_instruction_id(program, value->whole);
    encode_bytes(w, LOCATION_INSTRUCTION_NAME, value->name);
    encode_varint(w, LOCATION_INSTRUCTION_ID, id);
    encode_close(w, mark);
}

static void encode_buffers(struct text_writer *w, const struct hlo_text_program *program,
                           const struct hlo_text_assignment *assignment) {
    for (size_t i = 0; i < assignment->value_count; i++) {
        const struct hlo_text_value *value = &assignment->values[i];
        size_t mark = encode_open(w, ASSIGNMENT_BUFFERS);
        encode_varint(w, BUFFER_ID, (uint64_t)value->id);
        encode_varint(w, BUFFER_SIZE, (uint64_t)value->size_bytes);
        encode_location(w, program, value);
        encode_varint(w, BUFFER_COLOR, (uint64_t)value->color);
        encode_close(w, mark);
    }
}

static void encode_assigned(struct text_writer *w, const struct hlo_text_value *value) {
    size_t mark = encode_open(w, ALLOCATION_ASSIGNED);
    encode_varint(w, ASSIGNED_BUFFER_ID, (uint64_t)value->id);
    encode_varint(w, ASSIGNED_OFFSET, (uint64_t)value->offset);
    encode_varint(w, ASSIGNED_SIZE, (uint64_t)value->size_bytes);
    encode_close(w, mark);
}

static bool is_tuple(const struct hlo_text_allocation *allocation, const struct hlo_text_value *values) {
    bool is_one = allocation->value_count == 1 && !allocation->is_temporary;
    return is_one && bytes_starts_with(values->shape, BYTES("("));
}

static void encode_allocation(struct text_writer *w, const struct hlo_text_allocation *allocation,
                              const struct hlo_text_value *values) {
    size_t mark = encode_open(w, ASSIGNMENT_ALLOCATIONS);
    encode_varint(w, ALLOCATION_INDEX, (uint64_t)allocation->index);
    encode_varint(w, ALLOCATION_SIZE, (uint64_t)allocation->size_bytes);
    encode_flag(w, ALLOCATION_IS_THREAD_LOCAL, allocation->is_thread_local);
    encode_flag(w, ALLOCATION_IS_ENTRY_PARAMETER, allocation->is_parameter);
    encode_varint(w, ALLOCATION_PARAMETER_NUMBER, (uint64_t)allocation->parameter_number);
    encode_flag(w, ALLOCATION_MAYBE_LIVE_OUT, allocation->maybe_live_out);
    encode_varint(w, ALLOCATION_COLOR, (uint64_t)allocation->color);
    encode_flag(w, ALLOCATION_IS_TUPLE, is_tuple(allocation, values));
    encode_flag(w, ALLOCATION_IS_CONSTANT, allocation->is_constant);
    for (size_t i = 0; i < allocation->value_count; i++) encode_assigned(w, &values[i]);
    encode_close(w, mark);
}

static bool encode_assignment(const struct hlo_text *texts, const struct hlo_text_program *program,
                              const struct hlo_text_assignment *assignment, struct error *error) {
    struct text_writer *w = program->w;
    struct hlo_text_live_range range = {0};
    size_t mark = encode_open(w, HLO_PROTO_BUFFER_ASSIGNMENT);
    encode_buffers(w, program, assignment);
    for (size_t i = 0; i < assignment->allocation_count; i++) {
        const struct hlo_text_allocation *allocation = &assignment->allocations[i];
        bool has_values = allocation->value_count > 0;  // there are none at all where no allocation has any
        encode_allocation(w, allocation, has_values ? assignment->values + allocation->first_value : NULL);
    }
    if (texts->live_range.path) {
        if (!hlo_text_read_live_range(&texts->live_range, assignment, program->arena, &range, error)) return false;
        if (!hlo_text_encode_traces(assignment, &range, program->arena, w))
            return error_set(error, ERROR_TOO_BIG, "no memory left for the live ranges of the program");
    }
    encode_close(w, mark);
    return true;
}

static bool encode(const struct hlo_text *texts, struct arena *scratch, struct text_writer *w, struct error *error) {
    struct hlo_text_assignment assignment;
    struct hlo_text_program program = {.w = w, .arena = scratch};
    if (!text_file_is_whole(&texts->program, error) || !text_file_is_whole(&texts->values, error) ||
        !text_file_is_whole(&texts->live_range, error))
        return false;
    if (!hlo_text_read_assignment(&texts->assignment, scratch, &assignment, error)) return false;
    if (!text_file_is_whole(&texts->assignment, error)) return false;
    size_t mark = encode_open(w, HLO_PROTO_MODULE);
    if (!hlo_text_encode_program(texts, &assignment, &program, error)) return false;
    encode_close(w, mark);
    if (!encode_assignment(texts, &program, &assignment, error)) return false;
    return !w->has_failed || error_set(error, ERROR_TOO_BIG, "no memory left for the program");
}

static bool load_encoded(const struct text_writer *w, struct arena *arena, struct hlo_module *module,
                         struct error *error) {
    struct bytes encoded = {(const uint8_t *)w->data, w->size};
    uint8_t *blob = arena_push_raw(arena, encoded.size, 1);
    if (!blob) return error_set(error, ERROR_TOO_BIG, "no memory left for the program");
    memcpy(blob, encoded.data, encoded.size);
    return hlo_module_load((struct bytes){blob, encoded.size}, arena, module, error);
}

bool hlo_text_load(const struct hlo_text *texts, struct arena *arena, struct hlo_module *module, struct error *error) {
    struct arena scratch;
    arena_init(&scratch, SCRATCH_LIMIT_BYTES);
    struct text_writer w = {.arena = &scratch};
    bool is_good = encode(texts, &scratch, &w, error) && load_encoded(&w, arena, module, error);
    arena_free(&scratch);
    return is_good;
}
