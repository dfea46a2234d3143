// hlo_text_encode_traces: live ranges as the events of a heap simulation.
//
//     time        3            4        5                       a: 3-5, b: 4-5 at the place of a
//     events   ALLOC a     SHARE b~a   FREE a, FREE b
//
// At each time first what begins, then what ends, as in XLA's own simulation (xla/service/heap_simulator). Values of an
// allocation that begin at one offset are at one place; a value no larger than the one that lives there shares with it.
#include <stdlib.h>

#include "analysis/hlo/hlo_module.h"
#include "analysis/hlo/hlo_text_encode.h"
#include "analysis/hlo/hlo_text_live_range.h"
#include "proto/hlo_fields.h"

struct mark {  // a value begins or ends
    int64_t time;
    uint32_t is_end;
    uint32_t value;
};

struct place {
    int64_t offset;
    uint32_t value;
};

// Columns over all values; scratch for one allocation after the other.
struct tracer {
    const struct hlo_text_assignment *assignment;
    const struct hlo_text_live_range *range;
    struct text_writer *w;
    struct mark *marks;
    struct place *places;
    uint32_t *place_of;  // a number for each distinct offset
    uint32_t *resident;  // by place: the value that came last, or HLO_NONE
    uint32_t *canonical;
    bool *is_live;
};

static bool make_columns(struct tracer *t, struct arena *arena) {
    size_t count = t->assignment->value_count;
    t->marks = arena_push_raw(arena, 2 * count, sizeof *t->marks);
    t->places = arena_push_raw(arena, count, sizeof *t->places);
    t->place_of = arena_push_raw(arena, count, sizeof *t->place_of);
    t->resident = arena_push_raw(arena, count, sizeof *t->resident);
    t->canonical = arena_push_raw(arena, count, sizeof *t->canonical);
    t->is_live = arena_new(arena, bool, count);
    return t->marks && t->places && t->place_of && t->resident && t->canonical && t->is_live;
}

static int by_time(const void *left, const void *right) {
    const struct mark *a = left, *b = right;
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    if (a->is_end != b->is_end) return a->is_end < b->is_end ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

static int by_offset(const void *left, const void *right) {
    const struct place *a = left, *b = right;
    if (a->offset != b->offset) return a->offset < b->offset ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

static void number_places(struct tracer *t, size_t count) {
    uint32_t number = 0;
    if (count > 1) qsort(t->places, count, sizeof *t->places, by_offset);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && t->places[i].offset != t->places[i - 1].offset) number++;
        t->place_of[t->places[i].value] = number;
        t->resident[number] = HLO_NONE;
    }
}

// The marks of an allocation's values, in order; returns how many.
static size_t mark_values(struct tracer *t, const struct hlo_text_allocation *allocation) {
    size_t count = 0;
    for (size_t i = 0; i < allocation->value_count; i++) {
        uint32_t value = (uint32_t)(allocation->first_value + i);
        const struct hlo_text_span *span = &t->range->spans[value];
        if (span->start == HLO_TEXT_NEVER) continue;
        t->marks[2 * count] = (struct mark){span->start, 0, value};
        t->marks[2 * count + 1] = (struct mark){span->end, 1, value};
        t->places[count++] = (struct place){t->assignment->values[value].offset, value};
    }
    number_places(t, count);
    if (count) qsort(t->marks, 2 * count, sizeof *t->marks, by_time);
    return 2 * count;
}

static void encode_event(const struct tracer *t, enum hlo_event_kind kind, const struct mark *mark) {
    const struct hlo_text_value *value = &t->assignment->values[mark->value];
    bool has_instruction = (uint64_t)mark->time < t->range->time_count;
    size_t event = encode_open(t->w, TRACE_EVENTS);
    encode_varint(t->w, EVENT_KIND, kind);
    encode_varint(t->w, EVENT_BUFFER_ID, (uint64_t)value->id);
    encode_bytes(t->w, EVENT_INSTRUCTION_NAME, has_instruction ? t->range->instructions[mark->time] : value->name);
    if (kind == HLO_EVENT_SHARE_WITH) {
        int64_t id = t->assignment->values[t->canonical[mark->value]].id;
        encode_varint(t->w, EVENT_SHARE_WITH_CANONICAL_ID, (uint64_t)id);
    }
    encode_close(t->w, event);
}

static void begin(struct tracer *t, const struct mark *mark) {
    const struct hlo_text_value *values = t->assignment->values;
    uint32_t *resident = &t->resident[t->place_of[mark->value]];
    bool is_shared = *resident != HLO_NONE && t->is_live[*resident] &&
                     values[mark->value].size_bytes <= values[t->canonical[*resident]].size_bytes;
    t->canonical[mark->value] = is_shared ? t->canonical[*resident] : mark->value;
    t->is_live[mark->value] = true;
    *resident = mark->value;
    encode_event(t, is_shared ? HLO_EVENT_SHARE_WITH : HLO_EVENT_ALLOC, mark);
}

static void encode_trace(struct tracer *t, const struct hlo_text_allocation *allocation) {
    size_t count = mark_values(t, allocation);
    if (count == 0) return;
    size_t trace = encode_open(t->w, ASSIGNMENT_TRACES);
    encode_varint(t->w, TRACE_ALLOCATION_INDEX, (uint64_t)allocation->index);
    for (size_t i = 0; i < count; i++) {
        if (!t->marks[i].is_end) {
            begin(t, &t->marks[i]);
            continue;
        }
        t->is_live[t->marks[i].value] = false;
        encode_event(t, HLO_EVENT_FREE, &t->marks[i]);
    }
    encode_close(t->w, trace);
}

bool hlo_text_encode_traces(const struct hlo_text_assignment *assignment, const struct hlo_text_live_range *range,
                            struct arena *arena, struct text_writer *w) {
    struct tracer tracer = {.assignment = assignment, .range = range, .w = w};
    if (!make_columns(&tracer, arena)) return false;
    for (size_t i = 0; i < assignment->allocation_count; i++) {
        const struct hlo_text_allocation *a = &assignment->allocations[i];
        bool is_indefinite = a->is_parameter || a->is_constant || a->is_thread_local || a->maybe_live_out;
        if (!is_indefinite) encode_trace(&tracer, a);
    }
    return !w->has_failed;
}
