// One HloProto as columns: what a memory tool asks of a compiled program, without unpacking it.
//
//     blob   [module: computations [instructions ...]*, stack frames | assignment: buffers, allocations, traces]
//                     ^ views       ^ views             ^ columns                  ^ columns
//
//     instructions[i]   view on the message, its id
//     buffers[b]        id, size, color, instruction i       id -> b by hlo_buffer_of
//     allocations[a]    flags, size, color, assigned[first .. first+count): (buffer b, offset, size)
//     traces[t]         events[first .. first+count): (kind, buffer b, canonical b, instruction name)
//
// Strings, and what is read on demand (an instruction's name, shape, metadata), are views into the blob, which must
// outlive the module: a module is the blob and one arena (hlo_load.h makes it). Immutable after loading; may be shared
// between threads. Ids that name nothing become HLO_NONE and are reported by
// whoever needs them, so that one wrong id does not hide the rest of the module.
//
// Does not read operands, shardings or literals; knows nothing of files.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"
#include "analysis/base/id_map.h"

#define HLO_NONE UINT32_MAX

// Of an instruction only the id is read while loading; the rest when asked for: see hlo_instruction_read.
struct hlo_instruction_ref {
    int64_t id;
    struct bytes message;
    uint32_t computation;
    uint32_t long_index;  // into long_instructions, or HLO_NONE
};

// What an instruction says, read from its message. Views into the blob; empty where absent.
struct hlo_instruction {
    struct bytes name;
    struct bytes opcode;
    struct bytes shape;     // ShapeProto
    struct bytes metadata;  // OpMetadata
};

struct hlo_metadata {
    struct bytes op_name;
    struct bytes source_file;
    int32_t source_line;
    int32_t stack_frame_id;  // 1-based into stack_frames, 0 is none
};

// An instruction that is long enough to be read once, however many buffers are parts of its value.
struct hlo_long_instruction {
    struct hlo_instruction instruction;
    struct hlo_metadata metadata;
};
enum { HLO_LONG_INSTRUCTION_BYTES = 4096 };

struct hlo_buffer {  // LogicalBufferProto: one value, or one element of a tuple
    int64_t id;
    int64_t size_bytes;       // as the compiler lays it out, padding included
    int64_t color;            // memory space
    uint32_t instruction;     // or HLO_NONE
    struct bytes defined_at;  // view on the Location message: the shape index is read on demand
};

struct hlo_assigned {
    uint32_t buffer;  // or HLO_NONE
    int64_t offset;   // from the start of the allocation
    int64_t size_bytes;
};

struct hlo_allocation {  // BufferAllocationProto: bytes that buffers share over time
    int64_t index;
    int64_t size_bytes;
    int64_t color;
    int64_t parameter_number;
    bool is_thread_local, is_entry_parameter, is_constant, is_tuple, maybe_live_out;
    uint32_t first_assigned, assigned_count;
};

enum hlo_event_kind { HLO_EVENT_ALLOC = 0, HLO_EVENT_FREE = 1, HLO_EVENT_SHARE_WITH = 2 };

struct hlo_event {
    struct bytes instruction_name;
    int64_t buffer_id;   // as written, for messages
    uint32_t buffer;     // or HLO_NONE
    uint32_t canonical;  // SHARE_WITH: whose bytes; or HLO_NONE
    uint8_t kind;
};

struct hlo_trace {  // HeapSimulatorTrace
    uint32_t first_event, event_count;
    int64_t allocation_index;  // as written; XProf does not trust it, nor do we
};

struct hlo_stack_location {
    int32_t file, function, line, column;  // file and function are 1-based into the name arrays, 0 is none
};

struct hlo_stack_frame {
    int32_t location, parent;  // 1-based, 0 is none
};

struct hlo_module {
    struct bytes blob;
    struct bytes name;
    struct bytes entry_computation_name;
    struct bytes stack_frame_index;  // StackFrameIndexProto, the source of the last four columns
    struct bytes *computation_names;
    uint32_t computation_count;
    struct hlo_instruction_ref *instructions;
    uint32_t instruction_count;
    struct hlo_long_instruction *long_instructions;

    struct hlo_buffer *buffers;
    uint32_t buffer_count;
    // Compilers count ids up from 0 and leave few gaps: an array serves all ids below `near_id_count`.
    uint32_t *near_buffer_of;  // by id
    uint32_t near_id_count;
    struct id_map far_buffer_of;
    uint32_t *allocation_of_buffer;  // index into allocations, or HLO_NONE
    struct hlo_allocation *allocations;
    uint32_t allocation_count;
    struct hlo_assigned *assigned;
    uint32_t assigned_count;
    struct hlo_trace *traces;
    uint32_t trace_count;
    struct hlo_event *events;
    uint32_t event_count;

    struct bytes *file_names;
    uint32_t file_name_count;
    struct bytes *function_names;
    uint32_t function_name_count;
    struct hlo_stack_location *stack_locations;
    uint32_t stack_location_count;
    struct hlo_stack_frame *stack_frames;
    uint32_t stack_frame_count;
};

// The buffer of this id, or HLO_NONE.
static inline uint32_t hlo_buffer_of(const struct hlo_module *module, int64_t id) {
    if ((uint64_t)id < module->near_id_count) return module->near_buffer_of[id];
    return id_map_get(&module->far_buffer_of, id);
}

// A zeroed result for HLO_NONE and for a message that is damaged inside.
struct hlo_instruction hlo_instruction_read(const struct hlo_module *module, uint32_t instruction);

// The backend's own settings of an instruction (JSON); empty when it has none.
struct bytes hlo_instruction_backend_config(const struct hlo_module *module, uint32_t instruction);

// What the metadata of an instruction says; `metadata` is from hlo_instruction_read.
struct hlo_metadata hlo_instruction_metadata(const struct hlo_module *module, uint32_t instruction,
                                             struct bytes metadata);
struct hlo_metadata hlo_metadata_read(struct bytes metadata);

// The shape index of a logical buffer ({1,0}: element 0 of element 1 of its instruction's tuple): writes at most
// `capacity` entries, returns how many there are.
size_t hlo_buffer_shape_index(const struct hlo_buffer *buffer, int64_t *index, size_t capacity);

enum { HLO_SHAPE_INDEX_MAX = 32 };  // deeper ones are cut in names; no compiler makes them

// For loading (hlo_load.h).
struct hlo_long_instruction hlo_long_instruction_read(struct bytes message);
