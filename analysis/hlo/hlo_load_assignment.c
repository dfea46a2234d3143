#include "analysis/hlo/hlo_load_assignment.h"

#include "analysis/hlo/hlo_message.h"
#include "proto/hlo_fields.h"

// Of the bytes of a buffer assignment a row of these columns takes: the fewest seen.
enum { ASSIGNED_BYTES = 64, EVENT_BYTES = 64 };

// What the readers of one BufferAssignmentProto share.
struct loader {
    struct hlo_module *module;
    struct error *error;
    struct hlo_column assigned, events;
};

static bool count_parts(struct bytes message, struct hlo_module *module, struct error *error) {
    struct wire w = wire_open(message);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.type != WIRE_LEN) continue;
        module->buffer_count += f.number == ASSIGNMENT_BUFFERS;
        module->allocation_count += f.number == ASSIGNMENT_ALLOCATIONS;
        module->trace_count += f.number == ASSIGNMENT_TRACES;
    }
    return !w.fault || hlo_message_fault(error, module->blob, &w, "BufferAssignmentProto");
}

enum { NEAR_IDS_PER_BUFFER = 4 };

static uint32_t *new_indexes(struct arena *arena, size_t count) {
    uint32_t *indexes = arena_push_raw(arena, count, sizeof *indexes);
    if (indexes && count) memset(indexes, 0xff, count * sizeof *indexes);  // HLO_NONE
    return indexes;
}

static bool start_columns(struct loader *loader, struct arena *arena, size_t bytes) {
    struct hlo_module *module = loader->module;
    if (__builtin_mul_overflow(module->buffer_count, NEAR_IDS_PER_BUFFER, &module->near_id_count)) return false;
    module->buffers = arena_push_raw(arena, module->buffer_count, sizeof *module->buffers);
    module->near_buffer_of = new_indexes(arena, module->near_id_count);
    module->allocation_of_buffer = new_indexes(arena, module->buffer_count);
    module->allocations = arena_push_raw(arena, module->allocation_count, sizeof *module->allocations);
    module->traces = arena_push_raw(arena, module->trace_count, sizeof *module->traces);
    return module->buffers && module->near_buffer_of && module->allocation_of_buffer && module->allocations &&
           module->traces && id_map_init(&module->far_buffer_of, arena, 0) &&
           hlo_column_start(&loader->assigned, arena, sizeof(struct hlo_assigned), bytes, ASSIGNED_BYTES) &&
           hlo_column_start(&loader->events, arena, sizeof(struct hlo_event), bytes, EVENT_BYTES);
}

static void take_columns(const struct loader *loader, struct hlo_module *module) {
    module->assigned = loader->assigned.rows;
    module->assigned_count = loader->assigned.count;
    module->events = loader->events.rows;
    module->event_count = loader->events.count;
}

// The first buffer of an id keeps it.
static bool note_id(struct hlo_module *module, int64_t id, uint32_t buffer) {
    uint32_t *place = (uint64_t)id < module->near_id_count ? &module->near_buffer_of[id]
                                                           : id_map_place(&module->far_buffer_of, id);
    if (place && *place == HLO_NONE) *place = buffer;
    return place != NULL;
}

static bool read_buffer(struct loader *loader, struct bytes message, uint32_t index) {
    struct hlo_module *module = loader->module;
    struct hlo_buffer *buffer = &module->buffers[index];
    *buffer = (struct hlo_buffer){.instruction = HLO_NONE};
    struct wire w = wire_open(message);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        switch (f.number) {
            case BUFFER_ID:
                buffer->id = wire_int64(&f);
                break;
            case BUFFER_SIZE:
                buffer->size_bytes = wire_int64(&f);
                break;
            case BUFFER_COLOR:
                buffer->color = wire_int64(&f);
                break;
            case BUFFER_DEFINED_AT:
                buffer->defined_at = f.payload;
                break;
            default:
                break;
        }
    }
    if (w.fault) return hlo_message_fault(loader->error, module->blob, &w, "LogicalBufferProto");
    if (buffer->size_bytes < 0) {
        return error_at(loader->error, ERROR_MALFORMED, message.data - module->blob.data,
                        "logical buffer %lld has a negative size", (long long)buffer->id);
    }
    return note_id(module, buffer->id, index) || hlo_message_too_big(loader->error, module->far_buffer_of.arena);
}

static bool read_assigned(struct loader *loader, struct bytes message, uint32_t allocation) {
    struct hlo_module *module = loader->module;
    struct hlo_assigned *assigned = hlo_column_push(&loader->assigned);
    if (!assigned) return hlo_message_too_big(loader->error, loader->assigned.arena);
    *assigned = (struct hlo_assigned){0};
    int64_t id = 0;
    struct wire w = wire_open(message);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.number == ASSIGNED_BUFFER_ID) id = wire_int64(&f);
        if (f.number == ASSIGNED_OFFSET) assigned->offset = wire_int64(&f);
        if (f.number == ASSIGNED_SIZE) assigned->size_bytes = wire_int64(&f);
    }
    assigned->buffer = hlo_buffer_of(module, id);
    if (assigned->buffer != HLO_NONE) module->allocation_of_buffer[assigned->buffer] = allocation;
    return !w.fault || hlo_message_fault(loader->error, module->blob, &w, "BufferAllocationProto.Assigned");
}

static void read_allocation_scalar(const struct wire_field *f, struct hlo_allocation *allocation) {
    switch (f->number) {
        case ALLOCATION_INDEX:
            allocation->index = wire_int64(f);
            break;
        case ALLOCATION_SIZE:
            allocation->size_bytes = wire_int64(f);
            break;
        case ALLOCATION_IS_THREAD_LOCAL:
            allocation->is_thread_local = wire_bool(f);
            break;
        case ALLOCATION_IS_ENTRY_PARAMETER:
            allocation->is_entry_parameter = wire_bool(f);
            break;
        case ALLOCATION_PARAMETER_NUMBER:
            allocation->parameter_number = wire_int64(f);
            break;
        case ALLOCATION_MAYBE_LIVE_OUT:
            allocation->maybe_live_out = wire_bool(f);
            break;
        case ALLOCATION_COLOR:
            allocation->color = wire_int64(f);
            break;
        case ALLOCATION_IS_TUPLE:
            allocation->is_tuple = wire_bool(f);
            break;
        case ALLOCATION_IS_CONSTANT:
            allocation->is_constant = wire_bool(f);
            break;
        default:
            break;
    }
}

static bool read_allocation(struct loader *loader, struct bytes message, uint32_t index) {
    struct hlo_allocation *allocation = &loader->module->allocations[index];
    *allocation = (struct hlo_allocation){.first_assigned = loader->assigned.count};
    struct wire w = wire_open(message);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.number != ALLOCATION_ASSIGNED || f.type != WIRE_LEN) {
            read_allocation_scalar(&f, allocation);
        } else if (!read_assigned(loader, f.payload, index)) {
            return false;
        }
    }
    allocation->assigned_count = loader->assigned.count - allocation->first_assigned;
    if (w.fault) return hlo_message_fault(loader->error, loader->module->blob, &w, "BufferAllocationProto");
    if (allocation->size_bytes >= 0) return true;
    return error_at(loader->error, ERROR_MALFORMED, message.data - loader->module->blob.data,
                    "buffer allocation %lld has a negative size", (long long)allocation->index);
}

static bool read_event(struct loader *loader, struct bytes message) {
    struct hlo_module *module = loader->module;
    struct hlo_event *event = hlo_column_push(&loader->events);
    int64_t canonical = 0;
    uint64_t kind = HLO_EVENT_ALLOC;
    if (!event) return hlo_message_too_big(loader->error, loader->events.arena);
    *event = (struct hlo_event){0};
    struct wire w = wire_open(message);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        switch (f.number) {
            case EVENT_KIND:
                kind = f.value;
                break;
            case EVENT_BUFFER_ID:
                event->buffer_id = wire_int64(&f);
                break;
            case EVENT_INSTRUCTION_NAME:
                event->instruction_name = f.payload;
                break;
            case EVENT_SHARE_WITH_CANONICAL_ID:
                canonical = wire_int64(&f);
                break;
            default:
                break;
        }
    }
    if (w.fault) return hlo_message_fault(loader->error, module->blob, &w, "HeapSimulatorTrace.Event");
    if (kind > HLO_EVENT_SHARE_WITH) {
        return error_at(loader->error, ERROR_MALFORMED, message.data - module->blob.data,
                        "heap simulator event of kind %llu: expected ALLOC, FREE or SHARE_WITH",
                        (unsigned long long)kind);
    }
    event->kind = (uint8_t)kind;
    event->buffer = hlo_buffer_of(module, event->buffer_id);
    event->canonical = kind == HLO_EVENT_SHARE_WITH ? hlo_buffer_of(module, canonical) : HLO_NONE;
    return true;
}

static bool read_trace(struct loader *loader, struct bytes message, uint32_t index) {
    struct hlo_trace *trace = &loader->module->traces[index];
    *trace = (struct hlo_trace){.first_event = loader->events.count};
    struct wire w = wire_open(message);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.number == TRACE_ALLOCATION_INDEX) trace->allocation_index = wire_int64(&f);
        if (f.number == TRACE_EVENTS && f.type == WIRE_LEN && !read_event(loader, f.payload)) return false;
    }
    trace->event_count = loader->events.count - trace->first_event;
    return !w.fault || hlo_message_fault(loader->error, loader->module->blob, &w, "HeapSimulatorTrace");
}

typedef bool (*part_reader)(struct loader *loader, struct bytes message, uint32_t index);

static bool read_parts(struct loader *loader, struct bytes message, uint32_t number, part_reader read) {
    uint32_t index = 0;
    struct wire w = wire_open(message);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.number == number && f.type == WIRE_LEN && !read(loader, f.payload, index++)) return false;
    }
    return true;  // count_parts has met every fault of this message already
}

// Buffers first, whatever the order in the file: allocations and traces name them by id.
bool hlo_load_assignment(struct bytes message, struct arena *arena, struct hlo_module *module, struct error *error) {
    struct loader loader = {.module = module, .error = error};
    if (!count_parts(message, module, error)) return false;
    if (!start_columns(&loader, arena, message.size)) return hlo_message_too_big(error, arena);
    bool is_good = read_parts(&loader, message, ASSIGNMENT_BUFFERS, read_buffer) &&
                   read_parts(&loader, message, ASSIGNMENT_ALLOCATIONS, read_allocation) &&
                   read_parts(&loader, message, ASSIGNMENT_TRACES, read_trace);
    take_columns(&loader, module);
    return is_good;
}
