#include "analysis/profile/events/host_stat.h"

static void take_value(const struct wire_field *field, struct stat_value *value) {
    static const enum stat_value_type types[] = {
        [XSTAT_DOUBLE_VALUE] = STAT_DOUBLE, [XSTAT_UINT64_VALUE] = STAT_UINT64, [XSTAT_INT64_VALUE] = STAT_INT64,
        [XSTAT_STR_VALUE] = STAT_TEXT,      [XSTAT_BYTES_VALUE] = STAT_BYTES,   [XSTAT_REF_VALUE] = STAT_REF,
    };
    static const enum wire_type wire_types[] = {
        [XSTAT_DOUBLE_VALUE] = WIRE_FIXED64, [XSTAT_UINT64_VALUE] = WIRE_VARINT, [XSTAT_INT64_VALUE] = WIRE_VARINT,
        [XSTAT_STR_VALUE] = WIRE_LEN,        [XSTAT_BYTES_VALUE] = WIRE_LEN,     [XSTAT_REF_VALUE] = WIRE_VARINT,
    };
    if (field->number < XSTAT_DOUBLE_VALUE || field->number > XSTAT_REF_VALUE) return;
    if (field->type != wire_types[field->number]) return;
    *value = (struct stat_value){types[field->number], field->value, field->payload};
}

static bool read_stat(struct bytes message, uint64_t *id, struct stat_value *value) {
    struct wire w = wire_open(message);
    struct wire_field field;
    *id = 0;
    *value = (struct stat_value){0};
    while (wire_next(&w, &field)) {
        if (field.number == XSTAT_METADATA_ID && field.type == WIRE_VARINT)
            *id = field.value;
        else
            take_value(&field, value);
    }
    return !w.fault;
}

bool host_stat_next_any(struct wire *w, uint64_t *id, struct stat_value *value) {
    struct wire_field field;
    while (wire_next(w, &field)) {
        if (field.number == XEVENT_STATS && field.type == WIRE_LEN) return read_stat(field.payload, id, value);
    }
    return false;
}
