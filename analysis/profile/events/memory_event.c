#include "analysis/profile/events/memory_event.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

bool memory_event_reader_init(struct memory_event_reader *reader, const struct metadata_kinds *stats,
                              struct string_table *texts, struct arena *arena, struct arena *memory) {
    size_t ids = (size_t)stats->dense_count;
    *reader = (struct memory_event_reader){.stats = stats, .texts = texts, .arena = arena};
    reader->text_of_id = arena_push_raw(memory, ids, sizeof(uint32_t));
    if (reader->text_of_id) memset(reader->text_of_id, 0xff, ids * sizeof(uint32_t));
    return reader->text_of_id != NULL;
}

static uint32_t keep(struct memory_event_reader *reader, struct bytes text) {
    return string_table_copy(reader->texts, text, reader->arena);
}

// A reference to no name is the empty text.
static uint32_t text_of_reference(struct memory_event_reader *reader, uint64_t id) {
    uint32_t *known = id < reader->stats->dense_count ? &reader->text_of_id[id] : NULL;
    if (known && *known != ID_MAP_NONE) return *known;
    uint32_t number = keep(reader, metadata_name(reader->stats->names, (int64_t)id));
    if (known) *known = number;
    return number;
}

// A value that is no text is the empty one.
static uint32_t text_of(struct memory_event_reader *reader, const struct stat_value *value) {
    if (value->type == STAT_REF) return text_of_reference(reader, value->bits);
    return value->type == STAT_TEXT ? keep(reader, value->text) : 0;
}

static uint32_t text_of_number(struct memory_event_reader *reader, int64_t number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, number);
    return keep(reader, bytes_of(digits));
}

static void take_fragmentation(const struct stat_value *value, struct memory_row *row) {
    if (value->type == STAT_DOUBLE) memcpy(&row->fragmentation, &value->bits, sizeof row->fragmentation);
    if (value->type != STAT_INT64) return;
    row->fragmentation = (double)(int64_t)value->bits;
    row->flags |= MEMORY_EVENT_INTEGER_FRAGMENTATION;
}

// Where a stat goes. All of struct memory_event that stats fill is int64, but for the texts' numbers.
enum stat_use {
    STAT_IS_IGNORED,
    STAT_IS_NUMBER,
    STAT_IS_STATE,
    STAT_IS_ENUM,
    STAT_IS_TEXT,
    STAT_IS_ORDINAL,
    STAT_IS_FRAGMENTATION
};

#define PLACE(use, member)                                                                                             \
    { use, offsetof(struct memory_event, member) }
static const struct stat_place {
    uint8_t use;
    uint16_t offset;
} places[HOST_STAT_KIND_COUNT] = {
    [HOST_STAT_MEMORY_ORDINAL] = PLACE(STAT_IS_ORDINAL, memory_id),
    [HOST_STAT_ALLOCATOR_NAME] = PLACE(STAT_IS_TEXT, memory_id),
    [HOST_STAT_BYTES_RESERVED] = PLACE(STAT_IS_NUMBER, row.stack_bytes),
    [HOST_STAT_BYTES_ALLOCATED] = PLACE(STAT_IS_STATE, row.heap_bytes),
    [HOST_STAT_BYTES_AVAILABLE] = PLACE(STAT_IS_NUMBER, row.free_bytes),
    [HOST_STAT_FRAGMENTATION] = PLACE(STAT_IS_FRAGMENTATION, row.fragmentation),
    [HOST_STAT_PEAK_BYTES] = PLACE(STAT_IS_NUMBER, row.peak_bytes),
    [HOST_STAT_REQUESTED_BYTES] = PLACE(STAT_IS_NUMBER, site.requested_bytes),
    [HOST_STAT_ALLOCATION_BYTES] = PLACE(STAT_IS_NUMBER, site.allocated_bytes),
    [HOST_STAT_ADDRESS] = PLACE(STAT_IS_NUMBER, row.address),
    [HOST_STAT_TF_OP] = PLACE(STAT_IS_TEXT, site.op),
    [HOST_STAT_GROUP_ID] = PLACE(STAT_IS_NUMBER, row.step),
    [HOST_STAT_REGION_TYPE] = PLACE(STAT_IS_TEXT, site.region_type),
    [HOST_STAT_DATA_TYPE] = PLACE(STAT_IS_ENUM, site.data_type),
    [HOST_STAT_SHAPE] = PLACE(STAT_IS_TEXT, site.shape),
};
#undef PLACE

static void take_stat(struct memory_event_reader *reader, const struct stat_place *place,
                      const struct stat_value *value, struct memory_event *read) {
    void *to = (char *)read + place->offset;
    switch ((enum stat_use)place->use) {
        case STAT_IS_IGNORED:
            return;
        case STAT_IS_STATE:
            read->row.flags |= MEMORY_EVENT_HAS_STATE;
            *(int64_t *)to = stat_int64(value);
            return;
        case STAT_IS_NUMBER:
            *(int64_t *)to = stat_int64(value);
            return;
        case STAT_IS_ENUM:
            *(int64_t *)to = (int32_t)stat_int64(value);  // as XProf keeps it
            return;
        case STAT_IS_TEXT:
            *(uint32_t *)to = text_of(reader, value);
            return;
        case STAT_IS_ORDINAL:
            *(uint32_t *)to = text_of_number(reader, stat_int64(value));
            return;
        case STAT_IS_FRAGMENTATION:
            take_fragmentation(value, &read->row);
            return;
    }
}

static void begin(const struct host_event *event, struct memory_event *read) {
    static const struct memory_event nothing = {.site.data_type = ALLOCATION_SITE_NO_DATA_TYPE,
                                                .row.step = STEP_UNKNOWN};
    *read = nothing;
    read->row.time_ps = event->offset_ps;
    read->row.flags = event->kind == HOST_EVENT_DEALLOCATION ? MEMORY_EVENT_IS_FREE : 0;
}

// --- By layout ---

// What most stats come down to; ignored ones too, which have a place of their own.
enum step_action { STEP_IS_EIGHT_BYTES, STEP_IS_REFERENCE, STEP_NEEDS_A_LOOK };

static enum step_action action_of(const struct stat_place *place, enum stat_value_type type) {
    bool is_number = place->use == STAT_IS_NUMBER || place->use == STAT_IS_STATE;
    if (place->use == STAT_IS_IGNORED || (is_number && type == STAT_INT64)) return STEP_IS_EIGHT_BYTES;
    if (place->use == STAT_IS_FRAGMENTATION && type == STAT_DOUBLE) return STEP_IS_EIGHT_BYTES;
    return place->use == STAT_IS_TEXT && type == STAT_REF ? STEP_IS_REFERENCE : STEP_NEEDS_A_LOOK;
}

// Where the stat at `at` ends; NULL when it is another one than `step` was made of.
static inline const uint8_t *take_step(struct memory_event_reader *reader, const struct stat_step *step,
                                       const uint8_t *at, const uint8_t *end, struct memory_event *read) {
    const uint8_t *value = at + step->head_size, *stat_end = at + 2 + at[1];
    uint64_t head, bits;
    memcpy(&head, at, sizeof head);
    if ((head & step->mask) != step->head || stat_end > end) return NULL;
    if (step->type == STAT_DOUBLE) {
        memcpy(&bits, value, sizeof bits);
        value += sizeof bits;
    } else {
        value = short_varint(value, &bits);
    }
    if (value != stat_end) return NULL;
    void *to = (char *)read + step->offset;
    if (step->action == STEP_IS_EIGHT_BYTES)
        memcpy(to, &bits, sizeof bits);
    else if (step->action == STEP_IS_REFERENCE)
        *(uint32_t *)to = text_of_reference(reader, bits);
    else
        take_stat(reader, step->place, &(struct stat_value){.type = (enum stat_value_type)step->type, .bits = bits},
                  read);
    return stat_end;
}

// Looks at no more than HOST_STAT_SLACK_BYTES behind the event.
static bool read_as_laid_out(struct memory_event_reader *reader, const struct stat_layout *layout,
                             const struct wire *stats, struct memory_event *read) {
    const uint8_t *at = stats->at;
    for (const struct stat_step *step = layout->steps; step < layout->steps + layout->count; step++) {
        at = take_step(reader, step, at, stats->end, read);
        if (!at) return false;
    }
    read->row.flags |= layout->flags;
    return at == stats->end;
}

// What tells the stat is in its first bytes, but for the value's length: of that only that it is short.
static void learn_head(const uint8_t *at, size_t head_size, struct stat_step *step) {
    uint8_t mask[sizeof step->mask] = {0};
    memset(mask, 0xff, head_size);
    mask[1] = 0x80;
    memcpy(&step->mask, mask, sizeof mask);
    memcpy(&step->head, at, sizeof step->head);
    step->head &= step->mask;
    step->head_size = (uint8_t)head_size;
}

// A layout of nothing, when there is a stat that is not plain.
static void learn(const struct memory_event_reader *reader, struct wire w, struct stat_layout *layout) {
    enum { MOST = sizeof layout->steps / sizeof layout->steps[0] };
    uint8_t flags = 0;
    layout->count = layout->flags = 0;
    for (uint32_t count = 0; count < MOST; count++) {
        struct stat_step *step = &layout->steps[count];
        struct stat_value value;
        const uint8_t *at = w.at;
        uint64_t id;
        size_t head_size;
        if (w.at == w.end) {
            layout->count = count;
            layout->flags = flags;
            return;
        }
        if (!host_stat_next_short(&w, &id, &value, &head_size)) return;
        learn_head(at, head_size, step);
        step->place = &places[metadata_kind(reader->stats, id)];
        bool is_ignored = step->place->use == STAT_IS_IGNORED;
        step->offset = is_ignored ? offsetof(struct memory_event, ignored) : step->place->offset;
        step->type = (uint8_t)value.type;
        step->action = (uint8_t)action_of(step->place, value.type);
        if (step->place->use == STAT_IS_STATE) flags |= MEMORY_EVENT_HAS_STATE;
    }
}

// --- One event ---

static void read_any(struct memory_event_reader *reader, struct wire w, struct memory_event *read) {
    enum host_stat_kind kind;
    struct stat_value value;
    while (host_stat_next(&w, reader->stats, &kind, &value)) take_stat(reader, &places[kind], &value, read);
}

bool memory_event_read(struct memory_event_reader *reader, const struct host_event *event, struct memory_event *read) {
    struct stat_layout *layout = &reader->layouts[event->kind == HOST_EVENT_DEALLOCATION];
    begin(event, read);
    if (!read_as_laid_out(reader, layout, &event->stats, read)) {
        begin(event, read);
        read_any(reader, event->stats, read);
        learn(reader, event->stats, layout);
    }
    return !string_table_has_failed(reader->texts);
}
