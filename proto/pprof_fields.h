// Field numbers of the messages in profile.proto that are walked by hand; tests/unit/test_device_memory.c checks each
// against protobuf-c's generated descriptors.
#pragma once

enum pprof_profile_field_number {
    PPROF_SAMPLE_TYPE = 1,
    PPROF_SAMPLE = 2,
    PPROF_LOCATION = 4,
    PPROF_FUNCTION = 5,
    PPROF_STRING_TABLE = 6,
    PPROF_TIME_NANOS = 9,
};

enum pprof_value_type_field_number { PPROF_VALUE_TYPE_TYPE = 1, PPROF_VALUE_TYPE_UNIT = 2 };

enum pprof_sample_field_number { PPROF_SAMPLE_LOCATION_ID = 1, PPROF_SAMPLE_VALUE = 2, PPROF_SAMPLE_LABEL = 3 };

enum pprof_label_field_number { PPROF_LABEL_KEY = 1, PPROF_LABEL_STR = 2 };

enum pprof_location_field_number { PPROF_LOCATION_ID = 1, PPROF_LOCATION_LINE = 4 };

enum pprof_line_field_number { PPROF_LINE_FUNCTION_ID = 1, PPROF_LINE_LINE = 2 };

enum pprof_function_field_number { PPROF_FUNCTION_ID = 1, PPROF_FUNCTION_NAME = 2, PPROF_FUNCTION_FILENAME = 4 };
