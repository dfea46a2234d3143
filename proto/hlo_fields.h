// Field numbers of the HloProto messages that are read on the wire, those of xla/service/hlo.proto and
// xla/xla_data.proto (openxla/xla). tests/unit/test_hlo_fields.c checks each against the schema in hlo.proto.
#pragma once

enum hlo_proto_field { HLO_PROTO_MODULE = 1, HLO_PROTO_BUFFER_ASSIGNMENT = 3 };

enum hlo_module_field {
    HLO_MODULE_NAME = 1,
    HLO_MODULE_ENTRY_COMPUTATION_NAME = 2,
    HLO_MODULE_COMPUTATIONS = 3,
    HLO_MODULE_STACK_FRAME_INDEX = 17,
};

enum hlo_computation_field { HLO_COMPUTATION_NAME = 1, HLO_COMPUTATION_INSTRUCTIONS = 2 };

enum hlo_instruction_field {
    HLO_INSTRUCTION_NAME = 1,
    HLO_INSTRUCTION_OPCODE = 2,
    HLO_INSTRUCTION_SHAPE = 3,
    HLO_INSTRUCTION_METADATA = 7,
    HLO_INSTRUCTION_ID = 35,
    HLO_INSTRUCTION_BACKEND_CONFIG = 43,
};

enum op_metadata_field {
    OP_METADATA_OP_NAME = 2,
    OP_METADATA_SOURCE_FILE = 3,
    OP_METADATA_SOURCE_LINE = 4,
    OP_METADATA_STACK_FRAME_ID = 15,
};

enum shape_field { SHAPE_ELEMENT_TYPE = 2, SHAPE_DIMENSIONS = 3, SHAPE_TUPLE_SHAPES = 4 };

enum stack_frame_index_field {
    STACK_INDEX_FILE_NAMES = 1,
    STACK_INDEX_FUNCTION_NAMES = 2,
    STACK_INDEX_FILE_LOCATIONS = 3,
    STACK_INDEX_STACK_FRAMES = 4,
};

enum file_location_field {
    FILE_LOCATION_FILE_NAME_ID = 1,
    FILE_LOCATION_FUNCTION_NAME_ID = 2,
    FILE_LOCATION_LINE = 3,
    FILE_LOCATION_COLUMN = 4,
};

enum stack_frame_field { STACK_FRAME_FILE_LOCATION_ID = 1, STACK_FRAME_PARENT_FRAME_ID = 2 };

enum buffer_assignment_field { ASSIGNMENT_BUFFERS = 1, ASSIGNMENT_ALLOCATIONS = 3, ASSIGNMENT_TRACES = 4 };

enum logical_buffer_field { BUFFER_ID = 1, BUFFER_SIZE = 2, BUFFER_DEFINED_AT = 3, BUFFER_COLOR = 4 };

enum location_field { LOCATION_INSTRUCTION_NAME = 2, LOCATION_SHAPE_INDEX = 3, LOCATION_INSTRUCTION_ID = 4 };

enum allocation_field {
    ALLOCATION_INDEX = 1,
    ALLOCATION_SIZE = 2,
    ALLOCATION_IS_THREAD_LOCAL = 3,
    ALLOCATION_IS_ENTRY_PARAMETER = 5,
    ALLOCATION_PARAMETER_NUMBER = 6,
    ALLOCATION_MAYBE_LIVE_OUT = 7,
    ALLOCATION_COLOR = 8,
    ALLOCATION_ASSIGNED = 9,
    ALLOCATION_IS_TUPLE = 11,
    ALLOCATION_IS_CONSTANT = 12,
};

enum assigned_field { ASSIGNED_BUFFER_ID = 1, ASSIGNED_OFFSET = 2, ASSIGNED_SIZE = 3 };

enum trace_field { TRACE_EVENTS = 1, TRACE_ALLOCATION_INDEX = 3 };

enum event_field {
    EVENT_KIND = 1,
    EVENT_BUFFER_ID = 2,
    EVENT_INSTRUCTION_NAME = 4,
    EVENT_SHARE_WITH_CANONICAL_ID = 5,
};
