// Field numbers of the messages in xplane.proto that are walked by hand; tests/unit/test_xplane_fields.c checks each
// against protobuf-c's generated descriptors.
#pragma once

enum xspace_field_number { XSPACE_PLANES = 1, XSPACE_ERRORS = 2, XSPACE_WARNINGS = 3, XSPACE_HOSTNAMES = 4 };

enum xplane_field_number {
    XPLANE_ID = 1,
    XPLANE_NAME = 2,
    XPLANE_LINES = 3,
    XPLANE_EVENT_METADATA = 4,
    XPLANE_STAT_METADATA = 5,
    XPLANE_STATS = 6,
};

// An entry of any map<int64, ...>; both may be missing (then 0 and the empty message).
enum map_entry_field_number { MAP_ENTRY_KEY = 1, MAP_ENTRY_VALUE = 2 };

enum xline_field_number {
    XLINE_ID = 1,
    XLINE_NAME = 2,
    XLINE_TIMESTAMP_NS = 3,
    XLINE_EVENTS = 4,
    XLINE_DURATION_PS = 9,
    XLINE_DISPLAY_ID = 10,
    XLINE_DISPLAY_NAME = 11,
};

enum xevent_field_number {
    XEVENT_METADATA_ID = 1,
    XEVENT_OFFSET_PS = 2,
    XEVENT_DURATION_PS = 3,
    XEVENT_STATS = 4,
    XEVENT_NUM_OCCURRENCES = 5,
};

enum xstat_field_number {
    XSTAT_METADATA_ID = 1,
    XSTAT_DOUBLE_VALUE = 2,
    XSTAT_UINT64_VALUE = 3,
    XSTAT_INT64_VALUE = 4,
    XSTAT_STR_VALUE = 5,
    XSTAT_BYTES_VALUE = 6,
    XSTAT_REF_VALUE = 7,
};

enum xevent_metadata_field_number {
    XEVENT_METADATA_ENTRY_ID = 1,
    XEVENT_METADATA_NAME = 2,
    XEVENT_METADATA_METADATA = 3,
    XEVENT_METADATA_DISPLAY_NAME = 4,
    XEVENT_METADATA_STATS = 5,
    XEVENT_METADATA_CHILD_ID = 6,
};

enum xstat_metadata_field_number {
    XSTAT_METADATA_ENTRY_ID = 1,
    XSTAT_METADATA_NAME = 2,
    XSTAT_METADATA_DESCRIPTION = 3,
};
