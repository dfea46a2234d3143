#include "analysis/profile/events/memory_event.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

static uint32_t keep(struct event_texts *texts, struct bytes text) {
    return string_table_copy(texts->texts, text, texts->arena);
}

static uint32_t text_of_reference(struct event_texts *texts, uint64_t id) {
    uint32_t index = id_map_get(&texts->names->by_id, (int64_t)id);
    if (index == ID_MAP_NONE) return 0;
    uint32_t *number = &texts->number_of_name[index];
    if (*number == ID_MAP_NONE) *number = keep(texts, texts->names->names[index]);
    return *number;
}

// A value that is no text is the empty one.
static uint32_t text_of(struct event_texts *texts, const struct stat_value *value) {
    if (value->type == STAT_REF) return text_of_reference(texts, value->bits);
    return value->type == STAT_TEXT ? keep(texts, value->text) : 0;
}

static uint32_t text_of_number(struct event_texts *texts, int64_t number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, number);
    return keep(texts, bytes_of(digits));
}

static void take_fragmentation(const struct stat_value *value, struct memory_row *row) {
    if (value->type == STAT_DOUBLE) memcpy(&row->fragmentation, &value->bits, sizeof row->fragmentation);
    if (value->type != STAT_INT64) return;
    row->fragmentation = (double)(int64_t)value->bits;
    row->flags |= MEMORY_EVENT_INTEGER_FRAGMENTATION;
}

// Where a stat goes. All of struct memory_event that stats fill is int64, but for the texts' numbers.
enum stat_use { STAT_IS_IGNORED, STAT_IS_NUMBER, STAT_IS_TEXT, STAT_IS_ORDINAL, STAT_IS_FRAGMENTATION };

#define PLACE(use, member)                                                                                             \
    { use, offsetof(struct memory_event, member) }
static const struct {
    uint8_t use;
    uint16_t offset;
} places[HOST_STAT_KIND_COUNT] = {
    [HOST_STAT_MEMORY_ORDINAL] = PLACE(STAT_IS_ORDINAL, memory_id),
    [HOST_STAT_ALLOCATOR_NAME] = PLACE(STAT_IS_TEXT, memory_id),
    [HOST_STAT_BYTES_RESERVED] = PLACE(STAT_IS_NUMBER, row.stack_bytes),
    [HOST_STAT_BYTES_ALLOCATED] = PLACE(STAT_IS_NUMBER, row.heap_bytes),
    [HOST_STAT_BYTES_AVAILABLE] = PLACE(STAT_IS_NUMBER, row.free_bytes),
    [HOST_STAT_FRAGMENTATION] = PLACE(STAT_IS_FRAGMENTATION, row.fragmentation),
    [HOST_STAT_PEAK_BYTES] = PLACE(STAT_IS_NUMBER, row.peak_bytes),
    [HOST_STAT_REQUESTED_BYTES] = PLACE(STAT_IS_NUMBER, site.requested_bytes),
    [HOST_STAT_ALLOCATION_BYTES] = PLACE(STAT_IS_NUMBER, site.allocated_bytes),
    [HOST_STAT_ADDRESS] = PLACE(STAT_IS_NUMBER, row.address),
    [HOST_STAT_TF_OP] = PLACE(STAT_IS_TEXT, site.op),
    [HOST_STAT_GROUP_ID] = PLACE(STAT_IS_NUMBER, row.step),
    [HOST_STAT_REGION_TYPE] = PLACE(STAT_IS_TEXT, site.region_type),
    [HOST_STAT_DATA_TYPE] = PLACE(STAT_IS_NUMBER, site.data_type),
    [HOST_STAT_SHAPE] = PLACE(STAT_IS_TEXT, site.shape),
};
#undef PLACE

static void take_stat(enum host_stat_kind kind, const struct stat_value *value, struct event_texts *texts,
                      struct memory_event *read) {
    void *place = (char *)read + places[kind].offset;
    switch ((enum stat_use)places[kind].use) {
        case STAT_IS_IGNORED:
            return;
        case STAT_IS_NUMBER:
            *(int64_t *)place = stat_int64(value);
            if (kind == HOST_STAT_BYTES_ALLOCATED) read->row.flags |= MEMORY_EVENT_HAS_STATE;
            if (kind == HOST_STAT_DATA_TYPE) read->site.data_type = (int32_t)read->site.data_type;  // an enum in XProf
            return;
        case STAT_IS_TEXT:
            *(uint32_t *)place = text_of(texts, value);
            return;
        case STAT_IS_ORDINAL:
            *(uint32_t *)place = text_of_number(texts, stat_int64(value));
            return;
        case STAT_IS_FRAGMENTATION:
            take_fragmentation(value, &read->row);
            return;
    }
}

bool memory_event_read(const struct host_event *event, const struct metadata_kinds *kinds, struct event_texts *texts,
                       struct memory_event *read) {
    struct wire w = event->stats;
    enum host_stat_kind kind;
    struct stat_value value;
    *read = (struct memory_event){.site.data_type = ALLOCATION_SITE_NO_DATA_TYPE};
    read->row.time_ps = event->offset_ps;
    read->row.step = STEP_UNKNOWN;
    read->row.flags = event->kind == HOST_EVENT_DEALLOCATION ? MEMORY_EVENT_IS_FREE : 0;
    while (host_stat_next(&w, kinds, &kind, &value)) take_stat(kind, &value, texts, read);
    return !string_table_has_failed(texts->texts);
}
