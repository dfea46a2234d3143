// The numbers of proto/hlo_fields.h against the schema, through protobuf-c's descriptors.
#include "proto/hlo_fields.h"

#include "proto/hlo.pb-c.h"
#include "tests/unit/cmocka_all.h"

struct expectation {
    const ProtobufCMessageDescriptor *message;
    const char *field;
    unsigned number;
};

#define MODULE &hbmview__hlo_module_proto__descriptor
#define INSTRUCTION &hbmview__hlo_instruction_proto__descriptor
#define SHAPE &hbmview__shape_proto__descriptor
#define DOT &hbmview__dot_dimension_numbers__descriptor
#define CONVOLUTION &hbmview__convolution_dimension_numbers__descriptor
#define PADDING &hbmview__padding_config__descriptor
#define PADDED_DIMENSION &hbmview__padding_config__padding_config_dimension__descriptor
#define GATHER &hbmview__gather_dimension_numbers__descriptor
#define SCATTER &hbmview__scatter_dimension_numbers__descriptor
#define STACK_INDEX &hbmview__stack_frame_index_proto__descriptor
#define FILE_LOCATION &hbmview__stack_frame_index_proto__file_location__descriptor
#define BUFFER &hbmview__logical_buffer_proto__descriptor
#define ALLOCATION &hbmview__buffer_allocation_proto__descriptor
#define EVENT &hbmview__heap_simulator_trace__event__descriptor
#define ASSIGNMENT &hbmview__buffer_assignment_proto__descriptor

static const struct expectation EXPECTATIONS[] = {
    {&hbmview__hlo_proto__descriptor, "hlo_module", HLO_PROTO_MODULE},
    {&hbmview__hlo_proto__descriptor, "buffer_assignment", HLO_PROTO_BUFFER_ASSIGNMENT},
    {MODULE, "name", HLO_MODULE_NAME},
    {MODULE, "entry_computation_name", HLO_MODULE_ENTRY_COMPUTATION_NAME},
    {MODULE, "computations", HLO_MODULE_COMPUTATIONS},
    {MODULE, "stack_frame_index", HLO_MODULE_STACK_FRAME_INDEX},
    {&hbmview__hlo_computation_proto__descriptor, "name", HLO_COMPUTATION_NAME},
    {&hbmview__hlo_computation_proto__descriptor, "instructions", HLO_COMPUTATION_INSTRUCTIONS},
    {INSTRUCTION, "name", HLO_INSTRUCTION_NAME},
    {INSTRUCTION, "opcode", HLO_INSTRUCTION_OPCODE},
    {INSTRUCTION, "shape", HLO_INSTRUCTION_SHAPE},
    {INSTRUCTION, "metadata", HLO_INSTRUCTION_METADATA},
    {INSTRUCTION, "id", HLO_INSTRUCTION_ID},
    {MODULE, "schedule", HLO_MODULE_SCHEDULE},
    {&hbmview__hlo_schedule_proto__descriptor, "sequences", SCHEDULE_SEQUENCES},
    {&hbmview__hlo_schedule_proto__sequences_entry__descriptor, "key", SEQUENCES_ENTRY_KEY},
    {&hbmview__hlo_schedule_proto__sequences_entry__descriptor, "value", SEQUENCES_ENTRY_VALUE},
    {&hbmview__hlo_schedule_proto__instruction_sequence__descriptor, "instruction_ids", SEQUENCE_INSTRUCTION_IDS},
    {MODULE, "entry_computation_id", HLO_MODULE_ENTRY_COMPUTATION_ID},
    {&hbmview__hlo_computation_proto__descriptor, "id", HLO_COMPUTATION_ID},
    {&hbmview__hlo_computation_proto__descriptor, "root_id", HLO_COMPUTATION_ROOT_ID},
    {INSTRUCTION, "parameter_number", HLO_INSTRUCTION_PARAMETER_NUMBER},
    {INSTRUCTION, "tuple_index", HLO_INSTRUCTION_TUPLE_INDEX},
    {INSTRUCTION, "dimensions", HLO_INSTRUCTION_DIMENSIONS},
    {INSTRUCTION, "convolution_dimension_numbers", HLO_INSTRUCTION_CONVOLUTION},
    {INSTRUCTION, "padding_config", HLO_INSTRUCTION_PADDING},
    {PADDING, "dimensions", PADDING_DIMENSIONS},
    {PADDED_DIMENSION, "interior_padding", PADDING_DIMENSION_INTERIOR},
    {INSTRUCTION, "custom_call_target", HLO_INSTRUCTION_CUSTOM_CALL_TARGET},
    {INSTRUCTION, "dot_dimension_numbers", HLO_INSTRUCTION_DOT},
    {INSTRUCTION, "gather_dimension_numbers", HLO_INSTRUCTION_GATHER},
    {INSTRUCTION, "scatter_dimension_numbers", HLO_INSTRUCTION_SCATTER},
    {INSTRUCTION, "operand_ids", HLO_INSTRUCTION_OPERAND_IDS},
    {INSTRUCTION, "called_computation_ids", HLO_INSTRUCTION_CALLED_COMPUTATION_IDS},
    {SHAPE, "layout", SHAPE_LAYOUT},
    {&hbmview__layout_proto__descriptor, "minor_to_major", LAYOUT_MINOR_TO_MAJOR},
    {&hbmview__layout_proto__descriptor, "tiles", LAYOUT_TILES},
    {&hbmview__tile_proto__descriptor, "dimensions", TILE_DIMENSIONS},
    {DOT, "lhs_contracting_dimensions", DOT_LHS_CONTRACTING},
    {DOT, "rhs_contracting_dimensions", DOT_RHS_CONTRACTING},
    {DOT, "lhs_batch_dimensions", DOT_LHS_BATCH},
    {DOT, "rhs_batch_dimensions", DOT_RHS_BATCH},
    {CONVOLUTION, "kernel_input_feature_dimension", CONVOLUTION_KERNEL_INPUT_FEATURE},
    {CONVOLUTION, "kernel_output_feature_dimension", CONVOLUTION_KERNEL_OUTPUT_FEATURE},
    {CONVOLUTION, "kernel_spatial_dimensions", CONVOLUTION_KERNEL_SPATIAL},
    {CONVOLUTION, "input_batch_dimension", CONVOLUTION_INPUT_BATCH},
    {CONVOLUTION, "input_feature_dimension", CONVOLUTION_INPUT_FEATURE},
    {CONVOLUTION, "output_batch_dimension", CONVOLUTION_OUTPUT_BATCH},
    {CONVOLUTION, "output_feature_dimension", CONVOLUTION_OUTPUT_FEATURE},
    {CONVOLUTION, "input_spatial_dimensions", CONVOLUTION_INPUT_SPATIAL},
    {CONVOLUTION, "output_spatial_dimensions", CONVOLUTION_OUTPUT_SPATIAL},
    {GATHER, "offset_dims", GATHER_OFFSET_DIMS},
    {GATHER, "collapsed_slice_dims", GATHER_COLLAPSED_SLICE_DIMS},
    {GATHER, "index_vector_dim", GATHER_INDEX_VECTOR_DIM},
    {GATHER, "operand_batching_dims", GATHER_OPERAND_BATCHING_DIMS},
    {SCATTER, "update_window_dims", SCATTER_UPDATE_WINDOW_DIMS},
    {SCATTER, "inserted_window_dims", SCATTER_INSERTED_WINDOW_DIMS},
    {SCATTER, "index_vector_dim", SCATTER_INDEX_VECTOR_DIM},
    {SCATTER, "input_batching_dims", SCATTER_INPUT_BATCHING_DIMS},
    {INSTRUCTION, "backend_config", HLO_INSTRUCTION_BACKEND_CONFIG},
    {&hbmview__op_metadata__descriptor, "op_name", OP_METADATA_OP_NAME},
    {&hbmview__op_metadata__descriptor, "source_file", OP_METADATA_SOURCE_FILE},
    {&hbmview__op_metadata__descriptor, "source_line", OP_METADATA_SOURCE_LINE},
    {&hbmview__op_metadata__descriptor, "stack_frame_id", OP_METADATA_STACK_FRAME_ID},
    {&hbmview__shape_proto__descriptor, "element_type", SHAPE_ELEMENT_TYPE},
    {&hbmview__shape_proto__descriptor, "dimensions", SHAPE_DIMENSIONS},
    {&hbmview__shape_proto__descriptor, "tuple_shapes", SHAPE_TUPLE_SHAPES},
    {STACK_INDEX, "file_names", STACK_INDEX_FILE_NAMES},
    {STACK_INDEX, "function_names", STACK_INDEX_FUNCTION_NAMES},
    {STACK_INDEX, "file_locations", STACK_INDEX_FILE_LOCATIONS},
    {STACK_INDEX, "stack_frames", STACK_INDEX_STACK_FRAMES},
    {FILE_LOCATION, "file_name_id", FILE_LOCATION_FILE_NAME_ID},
    {FILE_LOCATION, "function_name_id", FILE_LOCATION_FUNCTION_NAME_ID},
    {FILE_LOCATION, "line", FILE_LOCATION_LINE},
    {FILE_LOCATION, "column", FILE_LOCATION_COLUMN},
    {&hbmview__stack_frame_index_proto__stack_frame__descriptor, "file_location_id", STACK_FRAME_FILE_LOCATION_ID},
    {&hbmview__stack_frame_index_proto__stack_frame__descriptor, "parent_frame_id", STACK_FRAME_PARENT_FRAME_ID},
    {ASSIGNMENT, "logical_buffers", ASSIGNMENT_BUFFERS},
    {ASSIGNMENT, "buffer_allocations", ASSIGNMENT_ALLOCATIONS},
    {ASSIGNMENT, "heap_simulator_traces", ASSIGNMENT_TRACES},
    {BUFFER, "id", BUFFER_ID},
    {BUFFER, "size", BUFFER_SIZE},
    {BUFFER, "defined_at", BUFFER_DEFINED_AT},
    {BUFFER, "color", BUFFER_COLOR},
    {&hbmview__logical_buffer_proto__location__descriptor, "instruction_name", LOCATION_INSTRUCTION_NAME},
    {&hbmview__logical_buffer_proto__location__descriptor, "shape_index", LOCATION_SHAPE_INDEX},
    {&hbmview__logical_buffer_proto__location__descriptor, "instruction_id", LOCATION_INSTRUCTION_ID},
    {ALLOCATION, "index", ALLOCATION_INDEX},
    {ALLOCATION, "size", ALLOCATION_SIZE},
    {ALLOCATION, "is_thread_local", ALLOCATION_IS_THREAD_LOCAL},
    {ALLOCATION, "is_entry_computation_parameter", ALLOCATION_IS_ENTRY_PARAMETER},
    {ALLOCATION, "parameter_number", ALLOCATION_PARAMETER_NUMBER},
    {ALLOCATION, "maybe_live_out", ALLOCATION_MAYBE_LIVE_OUT},
    {ALLOCATION, "color", ALLOCATION_COLOR},
    {ALLOCATION, "assigned", ALLOCATION_ASSIGNED},
    {ALLOCATION, "is_tuple", ALLOCATION_IS_TUPLE},
    {ALLOCATION, "is_constant", ALLOCATION_IS_CONSTANT},
    {&hbmview__buffer_allocation_proto__assigned__descriptor, "logical_buffer_id", ASSIGNED_BUFFER_ID},
    {&hbmview__buffer_allocation_proto__assigned__descriptor, "offset", ASSIGNED_OFFSET},
    {&hbmview__buffer_allocation_proto__assigned__descriptor, "size", ASSIGNED_SIZE},
    {&hbmview__heap_simulator_trace__descriptor, "events", TRACE_EVENTS},
    {&hbmview__heap_simulator_trace__descriptor, "buffer_allocation_index", TRACE_ALLOCATION_INDEX},
    {EVENT, "kind", EVENT_KIND},
    {EVENT, "buffer_id", EVENT_BUFFER_ID},
    {EVENT, "instruction_name", EVENT_INSTRUCTION_NAME},
    {EVENT, "share_with_canonical_id", EVENT_SHARE_WITH_CANONICAL_ID},
};
enum { EXPECTATION_COUNT = sizeof EXPECTATIONS / sizeof *EXPECTATIONS };

static void every_number_is_the_schemas(void **state) {
    (void)state;
    for (size_t i = 0; i < EXPECTATION_COUNT; i++) {
        const struct expectation *expected = &EXPECTATIONS[i];
        const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field_by_name(expected->message,
                                                                                                expected->field);
        if (!field) fail_msg("%s has no field %s", expected->message->name, expected->field);
        if (field) assert_int_equal(field->id, expected->number);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_number_is_the_schemas)};
    return cmocka_run_group_tests_name("hlo_fields", tests, NULL, NULL);
}
