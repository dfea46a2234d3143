// The numbers of proto/xplane_fields.h against the schema, through protobuf-c's descriptors.
#include "proto/xplane_fields.h"

#include "proto/xplane.pb-c.h"
#include "tests/unit/cmocka_all.h"

struct expectation {
    const ProtobufCMessageDescriptor *message;
    const char *field;
    unsigned number;
};

static const struct expectation EXPECTATIONS[] = {
    {&hbmview__xspace__descriptor, "planes", XSPACE_PLANES},
    {&hbmview__xspace__descriptor, "errors", XSPACE_ERRORS},
    {&hbmview__xspace__descriptor, "warnings", XSPACE_WARNINGS},
    {&hbmview__xspace__descriptor, "hostnames", XSPACE_HOSTNAMES},
    {&hbmview__xplane__descriptor, "id", XPLANE_ID},
    {&hbmview__xplane__descriptor, "name", XPLANE_NAME},
    {&hbmview__xplane__descriptor, "lines", XPLANE_LINES},
    {&hbmview__xplane__descriptor, "event_metadata", XPLANE_EVENT_METADATA},
    {&hbmview__xplane__descriptor, "stat_metadata", XPLANE_STAT_METADATA},
    {&hbmview__xplane__descriptor, "stats", XPLANE_STATS},
    {&hbmview__xplane__event_metadata_entry__descriptor, "key", MAP_ENTRY_KEY},
    {&hbmview__xplane__event_metadata_entry__descriptor, "value", MAP_ENTRY_VALUE},
    {&hbmview__xplane__stat_metadata_entry__descriptor, "key", MAP_ENTRY_KEY},
    {&hbmview__xplane__stat_metadata_entry__descriptor, "value", MAP_ENTRY_VALUE},
    {&hbmview__xline__descriptor, "id", XLINE_ID},
    {&hbmview__xline__descriptor, "name", XLINE_NAME},
    {&hbmview__xline__descriptor, "timestamp_ns", XLINE_TIMESTAMP_NS},
    {&hbmview__xline__descriptor, "events", XLINE_EVENTS},
    {&hbmview__xline__descriptor, "duration_ps", XLINE_DURATION_PS},
    {&hbmview__xline__descriptor, "display_id", XLINE_DISPLAY_ID},
    {&hbmview__xline__descriptor, "display_name", XLINE_DISPLAY_NAME},
    {&hbmview__xevent__descriptor, "metadata_id", XEVENT_METADATA_ID},
    {&hbmview__xevent__descriptor, "offset_ps", XEVENT_OFFSET_PS},
    {&hbmview__xevent__descriptor, "duration_ps", XEVENT_DURATION_PS},
    {&hbmview__xevent__descriptor, "stats", XEVENT_STATS},
    {&hbmview__xevent__descriptor, "num_occurrences", XEVENT_NUM_OCCURRENCES},
    {&hbmview__xstat__descriptor, "metadata_id", XSTAT_METADATA_ID},
    {&hbmview__xstat__descriptor, "double_value", XSTAT_DOUBLE_VALUE},
    {&hbmview__xstat__descriptor, "uint64_value", XSTAT_UINT64_VALUE},
    {&hbmview__xstat__descriptor, "int64_value", XSTAT_INT64_VALUE},
    {&hbmview__xstat__descriptor, "str_value", XSTAT_STR_VALUE},
    {&hbmview__xstat__descriptor, "bytes_value", XSTAT_BYTES_VALUE},
    {&hbmview__xstat__descriptor, "ref_value", XSTAT_REF_VALUE},
    {&hbmview__xevent_metadata__descriptor, "id", XEVENT_METADATA_ENTRY_ID},
    {&hbmview__xevent_metadata__descriptor, "name", XEVENT_METADATA_NAME},
    {&hbmview__xevent_metadata__descriptor, "metadata", XEVENT_METADATA_METADATA},
    {&hbmview__xevent_metadata__descriptor, "display_name", XEVENT_METADATA_DISPLAY_NAME},
    {&hbmview__xevent_metadata__descriptor, "stats", XEVENT_METADATA_STATS},
    {&hbmview__xevent_metadata__descriptor, "child_id", XEVENT_METADATA_CHILD_ID},
    {&hbmview__xstat_metadata__descriptor, "id", XSTAT_METADATA_ENTRY_ID},
    {&hbmview__xstat_metadata__descriptor, "name", XSTAT_METADATA_NAME},
    {&hbmview__xstat_metadata__descriptor, "description", XSTAT_METADATA_DESCRIPTION},
};
enum { EXPECTATION_COUNT = sizeof EXPECTATIONS / sizeof *EXPECTATIONS };

static void every_number_is_the_schemas(void **state) {
    (void)state;
    for (size_t i = 0; i < EXPECTATION_COUNT; i++) {
        const struct expectation *expected = &EXPECTATIONS[i];
        const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field_by_name(expected->message,
                                                                                                expected->field);
        if (!field) fail_msg("%s has no field %s", expected->message->name, expected->field);
        if (field && field->id != expected->number)
            fail_msg("%s.%s is %u, not %u", expected->message->name, expected->field, field->id, expected->number);
    }
}

static void every_field_of_the_schema_is_listed(void **state) {
    (void)state;
    for (size_t i = 0; i < EXPECTATION_COUNT; i++) {
        size_t listed = 0;
        for (size_t k = 0; k < EXPECTATION_COUNT; k++) listed += EXPECTATIONS[k].message == EXPECTATIONS[i].message;
        assert_int_equal(listed, EXPECTATIONS[i].message->n_fields);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_is_the_schemas),
        cmocka_unit_test(every_field_of_the_schema_is_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
