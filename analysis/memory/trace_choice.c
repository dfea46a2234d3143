#include "analysis/memory/trace_choice.h"

#include "analysis/memory/allocation_category.h"

struct heap_events trace_events(const struct hlo_module *module, uint32_t trace) {
    const struct hlo_trace *chosen = &module->traces[trace];
    return (struct heap_events){module->events + chosen->first_event, chosen->event_count};
}

// A trace belongs to the allocation of its first event's buffer; its own buffer_allocation_index is not to be trusted.
static uint32_t allocation_of_trace(const struct hlo_module *module, uint32_t trace) {
    struct heap_events events = trace_events(module, trace);
    if (!events.count || events.events[0].buffer == HLO_NONE) return HLO_NONE;
    return module->allocation_of_buffer[events.events[0].buffer];
}

static bool is_temporary_of(const struct hlo_module *module, uint32_t allocation, int64_t space) {
    return allocation != HLO_NONE && module->allocations[allocation].color == space &&
           !allocation_is_indefinite(&module->allocations[allocation]);
}

static uint32_t count_events_of_space(const struct hlo_module *module, uint32_t trace, int64_t space) {
    struct heap_events events = trace_events(module, trace);
    uint32_t count = 0;
    for (uint32_t i = 0; i < events.count; i++) {
        uint32_t buffer = events.events[i].buffer;
        count += buffer != HLO_NONE && module->buffers[buffer].color == space;
    }
    return count;
}

uint32_t trace_choose_as_xprof(const struct hlo_module *module, int64_t space) {
    uint32_t best = HLO_NONE, best_count = 0;
    for (uint32_t t = 0; t < module->trace_count; t++) {
        if (is_temporary_of(module, allocation_of_trace(module, t), space)) return t;
    }
    for (uint32_t t = 0; t < module->trace_count; t++) {
        uint32_t count = count_events_of_space(module, t, space);
        if (count <= best_count) continue;
        best = t;
        best_count = count;
    }
    return best;
}

// The traces of the space's temporary allocations that tell of buffers no earlier one told of: with several heaps the
// compiler writes one and the same trace once for each allocation.
struct trace_list {
    uint32_t *traces;
    uint32_t count;
    uint32_t longest;  // position in `traces`
};

static bool claim_buffers(struct heap_events events, bool *is_claimed) {
    bool is_new = true;
    for (uint32_t i = 0; i < events.count && is_new; i++) {
        uint32_t buffer = events.events[i].buffer;
        is_new = buffer == HLO_NONE || !is_claimed[buffer];
    }
    for (uint32_t i = 0; i < events.count && is_new; i++) {
        if (events.events[i].buffer != HLO_NONE) is_claimed[events.events[i].buffer] = true;
    }
    return is_new;
}

static bool list_traces(const struct hlo_module *module, int64_t space, struct arena *arena, struct trace_list *list) {
    bool *is_claimed = arena_new(arena, bool, module->buffer_count);
    list->traces = arena_new(arena, uint32_t, module->trace_count);
    if (!is_claimed || !list->traces) return false;
    for (uint32_t t = 0; t < module->trace_count; t++) {
        if (!is_temporary_of(module, allocation_of_trace(module, t), space)) continue;
        if (!claim_buffers(trace_events(module, t), is_claimed)) continue;
        uint32_t longest = list->count ? module->traces[list->traces[list->longest]].event_count : 0;
        if (module->traces[t].event_count > longest) list->longest = list->count;
        list->traces[list->count++] = t;
    }
    return true;
}

static bool index_spine(struct heap_events spine, struct arena *arena, struct id_map *first_position) {
    if (!id_map_init(first_position, arena, spine.count)) return false;
    for (uint32_t i = 0; i < spine.count; i++) {
        id_map_put(first_position, id_map_key(spine.events[i].instruction_name), i);
    }
    return true;
}

// Where the spine first meets the event's instruction; `from` when that is behind, or never.
static uint32_t place_in_spine(const struct id_map *first_position, uint32_t from, const struct hlo_event *event) {
    uint32_t position = id_map_get(first_position, id_map_key(event->instruction_name));
    return position == ID_MAP_NONE || position < from ? from : position;
}

static void merge(struct heap_events spine, const struct id_map *first_position, struct heap_events other,
                  struct hlo_event *out) {
    uint32_t at = 0, count = 0;
    for (uint32_t i = 0; i < other.count; i++) {
        uint32_t until = place_in_spine(first_position, at, &other.events[i]);
        while (at < until) out[count++] = spine.events[at++];
        out[count++] = other.events[i];
    }
    while (at < spine.count) out[count++] = spine.events[at++];
}

static bool merge_all(const struct hlo_module *module, const struct trace_list *list, struct arena *arena,
                      struct heap_events *events, struct error *error) {
    for (uint32_t i = 0; i < list->count; i++) {
        if (i == list->longest) continue;
        struct heap_events other = trace_events(module, list->traces[i]);
        struct id_map first_position;
        struct hlo_event *merged = arena_push_raw(arena, (size_t)events->count + other.count, sizeof *merged);
        if (!merged || UINT32_MAX - events->count <= other.count || !index_spine(*events, arena, &first_position)) {
            return error_set(error, ERROR_TOO_BIG, "no memory left to merge %u heap simulator traces", list->count);
        }
        merge(*events, &first_position, other, merged);
        *events = (struct heap_events){merged, events->count + other.count};
    }
    return true;
}

bool trace_choose_exact(const struct hlo_module *module, int64_t space, struct arena *arena, struct heap_events *events,
                        struct error *error) {
    struct trace_list list = {0};
    *events = (struct heap_events){0};
    if (!list_traces(module, space, arena, &list)) {
        return error_set(error, ERROR_TOO_BIG, "no memory left for the list of heap simulator traces");
    }
    uint32_t only = list.count ? list.traces[list.longest] : trace_choose_as_xprof(module, space);
    if (only == HLO_NONE) return true;
    *events = trace_events(module, only);
    return list.count < 2 || merge_all(module, &list, arena, events, error);
}
