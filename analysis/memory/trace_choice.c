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

// Events to be placed among those of the spine, all in one pass: a counting sort by place, so that many traces cost no
// more than their events.
struct placement {
    uint32_t *place;  // of each other event, trace by trace: before which event of the spine
    uint32_t *start;  // how many others come before each place
    uint32_t count;
};

static bool place_others(const struct hlo_module *module, const struct trace_list *list, struct heap_events spine,
                         struct arena *arena, struct placement *placement) {
    struct id_map first_position;
    placement->place = arena_push_raw(arena, module->event_count, sizeof *placement->place);
    placement->start = arena_new(arena, uint32_t, (size_t)spine.count + 2);
    if (!placement->place || !placement->start || !index_spine(spine, arena, &first_position)) return false;
    for (uint32_t i = 0; i < list->count; i++) {
        struct heap_events other = trace_events(module, list->traces[i]);
        uint32_t at = 0;
        for (uint32_t k = 0; k < other.count && i != list->longest; k++) {
            at = place_in_spine(&first_position, at, &other.events[k]);
            placement->place[placement->count++] = at;
            placement->start[at + 1]++;
        }
    }
    for (uint32_t p = 0; p <= spine.count; p++) placement->start[p + 1] += placement->start[p];
    return true;
}

static void fill_merged(const struct hlo_module *module, const struct trace_list *list, struct heap_events spine,
                        struct placement *placement, struct hlo_event *merged) {
    for (uint32_t p = 0; p < spine.count; p++) merged[p + placement->start[p + 1]] = spine.events[p];
    uint32_t next = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        struct heap_events other = trace_events(module, list->traces[i]);
        for (uint32_t k = 0; k < other.count && i != list->longest; k++) {
            uint32_t place = placement->place[next++];
            merged[place + placement->start[place]++] = other.events[k];
        }
    }
}

static bool merge_all(const struct hlo_module *module, const struct trace_list *list, struct arena *arena,
                      struct heap_events *events, struct error *error) {
    struct heap_events spine = *events;
    struct placement placement = {0};
    struct hlo_event *merged = arena_push_raw(arena, module->event_count, sizeof *merged);
    if (!merged || !place_others(module, list, spine, arena, &placement)) {
        return error_set(error, ERROR_TOO_BIG, "no memory left to merge %u heap simulator traces", list->count);
    }
    fill_merged(module, list, spine, &placement, merged);
    *events = (struct heap_events){merged, spine.count + placement.count};
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
