#include "analysis/advice/residents.h"

#include <stdlib.h>

struct guest {
    uint32_t buffer;  // the largest of those that are one array
    int64_t size_bytes;
    uint32_t start, end;  // times
    uint32_t host_handed_to;
};

struct finder {
    const struct hlo_module *module;
    struct program_graph *graph;
    const struct schedule *schedule;
    struct guest *guests;
    uint32_t guest_count;
    struct host *hosts;
    uint32_t *owned_from;  // of each host: a time
    uint32_t host_count;
};

static bool may_have_guests(const struct hlo_allocation *a) {
    return a->color == 0 && a->maybe_live_out && !a->is_thread_local && !a->is_entry_parameter && !a->is_tuple;
}

static int by_start(const void *left, const void *right) {
    const struct guest *a = left, *b = right;
    if (a->start != b->start) return (a->start > b->start) - (a->start < b->start);
    return (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

// An output is needed from the earliest of its names on.
static void add_owner(struct finder *f, uint32_t allocation, uint32_t buffer, uint32_t start) {
    uint32_t last = f->host_count;
    bool is_another_name = last > 0 && f->hosts[last - 1].allocation == allocation;
    if (is_another_name && start >= f->owned_from[last - 1]) return;
    if (!is_another_name) f->host_count++;
    f->hosts[f->host_count - 1] = (struct host){.allocation = allocation, .owner = buffer};
    f->owned_from[f->host_count - 1] = start;
}

static void add_buffer(struct finder *f, uint32_t allocation, uint32_t buffer) {
    bool is_alone = f->module->allocations[allocation].assigned_count == 1;
    uint32_t leaf = buffer == HLO_NONE ? HLO_NONE : f->graph->leaf_of_buffer[buffer];
    uint32_t node = leaf == HLO_NONE ? HLO_NONE : f->graph->node_of_leaf[leaf];
    if (node == HLO_NONE || f->schedule->time_of_node[node] == SCHEDULE_NEVER) return;
    uint32_t start = f->schedule->time_of_node[node], end = f->schedule->last_use_of_leaf[leaf];
    if (f->module->buffers[buffer].size_bytes <= 0) return;
    if (end == SCHEDULE_NEVER || is_alone) {
        add_owner(f, allocation, buffer, start);
        return;
    }
    f->guests[f->guest_count++] = (struct guest){.buffer = buffer,
                                                 .size_bytes = f->module->buffers[buffer].size_bytes,
                                                 .start = start,
                                                 .end = end < start ? start : end,
                                                 .host_handed_to = HLO_NONE};
}

// What overlaps in one place is one array under several names.
static void merge_from(struct finder *f, uint32_t first) {
    uint32_t kept = first;
    qsort(&f->guests[first], f->guest_count - first, sizeof *f->guests, by_start);
    for (uint32_t i = first; i < f->guest_count; i++) {
        struct guest *last = kept > first ? &f->guests[kept - 1] : NULL;
        if (!last || f->guests[i].start > last->end) {
            f->guests[kept++] = f->guests[i];
            continue;
        }
        if (f->guests[i].end > last->end) last->end = f->guests[i].end;
        if (f->guests[i].size_bytes <= last->size_bytes) continue;
        last->size_bytes = f->guests[i].size_bytes;
        last->buffer = f->guests[i].buffer;
    }
    f->guest_count = kept;
}

static bool is_copy(const struct finder *f, const struct guest *guest) {
    return f->graph->nodes[f->graph->node_of_leaf[f->graph->leaf_of_buffer[guest->buffer]]].opcode == OPCODE_COPY;
}

// The guest whose place the owner takes over at once, or is one with. A copy that the owner updates in place (a cache)
// is the owner's own: donated, the input is updated and nothing is copied.
static void hand_over(struct finder *f, uint32_t first, uint32_t allocation) {
    uint32_t host = f->host_count - 1, last = f->guest_count - 1;
    if (f->host_count == 0 || f->hosts[host].allocation != allocation || f->guest_count == first) return;
    if (f->guests[last].end < f->owned_from[host]) return;
    if (is_copy(f, &f->guests[last])) {
        f->owned_from[host] = f->guests[last].start;
        f->guest_count--;
        return;
    }
    f->guests[last].host_handed_to = host;
}

static bool find_guests(struct finder *f, struct arena *arena) {
    const struct hlo_module *module = f->module;
    f->guests = arena_push_raw(arena, module->assigned_count, sizeof *f->guests);
    f->hosts = arena_push_raw(arena, module->allocation_count, sizeof *f->hosts);
    f->owned_from = arena_push_raw(arena, module->allocation_count, sizeof *f->owned_from);
    if (!f->guests || !f->hosts || !f->owned_from) return false;
    for (uint32_t i = 0; i < module->allocation_count; i++) {
        const struct hlo_allocation *a = &module->allocations[i];
        uint32_t first = f->guest_count;
        if (!may_have_guests(a)) continue;
        for (uint32_t k = 0; k < a->assigned_count; k++)
            add_buffer(f, i, module->assigned[a->first_assigned + k].buffer);
        merge_from(f, first);
        hand_over(f, first, i);
    }
    return true;
}

// --- Their events ---

// times[e]: when event e happens, never earlier than those before it. Only an allocation names the operation that runs:
// what is freed was made earlier, and what shares a loop's array may be its body's last.
static uint32_t *time_events(const struct finder *f, struct heap_events events, struct arena *arena) {
    struct id_map by_name;
    uint32_t *times = arena_push_raw(arena, events.count, sizeof *times);
    uint32_t latest = 0;
    if (!times || !id_map_init(&by_name, arena, f->graph->node_count)) return NULL;
    for (uint32_t i = 0; i < f->schedule->count; i++) {
        uint32_t node = f->schedule->order[i];
        id_map_put(&by_name, id_map_key(hlo_instruction_read(f->module, node).name), node);
    }
    for (uint32_t e = 0; e < events.count; e++) {
        uint32_t node = id_map_get(&by_name, id_map_key(events.events[e].instruction_name));
        uint32_t time = node == ID_MAP_NONE ? latest : f->schedule->time_of_node[node];
        if (events.events[e].kind == HLO_EVENT_ALLOC && time > latest) latest = time;
        times[e] = latest;
    }
    return times;
}

static uint32_t first_at_least(const uint32_t *times, uint32_t count, uint32_t time) {
    uint32_t low = 0;
    while (low < count) {
        uint32_t middle = low + (count - low) / 2;
        if (times[middle] >= time)
            count = middle;
        else
            low = middle + 1;
    }
    return low;
}

static struct hlo_event guest_event(const struct finder *f, uint32_t guest, uint32_t buffer, enum hlo_event_kind kind,
                                    struct bytes at) {
    return (struct hlo_event){.instruction_name = at,
                              .buffer_id = f->module->buffers[f->guests[guest].buffer].id,
                              .buffer = buffer,
                              .canonical = HLO_NONE,
                              .kind = (uint8_t)kind};
}

struct coming {  // or going, of a guest
    uint32_t time, guest;
    enum hlo_event_kind kind;
};

// One that goes at a time makes room before another comes.
static int by_time(const void *left, const void *right) {
    const struct coming *a = left, *b = right;
    if (a->time != b->time) return (a->time > b->time) - (a->time < b->time);
    bool goes_a = a->kind == HLO_EVENT_FREE, goes_b = b->kind == HLO_EVENT_FREE;
    if (goes_a != goes_b) return goes_b - goes_a;
    return (a->guest > b->guest) - (a->guest < b->guest);
}

// A guest is there until after its last use. NULL: no memory.
static struct coming *list_comings(const struct finder *f, struct arena *arena) {
    struct coming *comings = arena_push_raw(arena, (size_t)f->guest_count * 2, sizeof *comings);
    if (!comings) return NULL;
    struct coming *next = comings;
    for (uint32_t g = 0; g < f->guest_count; g++) {
        *next++ = (struct coming){f->guests[g].start, g, HLO_EVENT_ALLOC};
        *next++ = (struct coming){f->guests[g].end + 1, g, HLO_EVENT_FREE};
    }
    if (f->guest_count) qsort(comings, (size_t)f->guest_count * 2, sizeof *comings, by_time);
    return comings;
}

// The program's events with those of the guests between them, in order of time: also of guests that come and go between
// two of the program's, or after its last.
static bool weave(struct finder *f, struct heap_events events, const uint32_t *times, struct arena *arena,
                  struct residents *residents) {
    uint32_t total = events.count + 2 * f->guest_count, count = 0, next = 0;
    struct hlo_event *woven = arena_push_raw(arena, total, sizeof *woven);
    uint32_t *woven_times = arena_push_raw(arena, total, sizeof *woven_times);
    const struct coming *comings = list_comings(f, arena);
    if (!woven || !woven_times || !comings) return false;
    for (uint32_t e = 0; e <= events.count; e++) {
        bool is_last = e == events.count;
        struct bytes at = is_last ? (struct bytes){0} : events.events[e].instruction_name;
        for (; next < 2 * f->guest_count && (is_last || comings[next].time <= times[e]); next++) {
            woven_times[count] = comings[next].time;
            woven[count++] = guest_event(f, comings[next].guest, residents->first_guest + comings[next].guest,
                                         comings[next].kind, at);
        }
        if (is_last) break;
        woven_times[count] = times[e];
        woven[count++] = events.events[e];
    }
    residents->events = (struct heap_events){woven, count};
    for (uint32_t h = 0; h < f->host_count; h++)
        f->hosts[h].first_step = first_at_least(woven_times, count, f->owned_from[h]);
    return true;
}

static bool keep_hosts(const struct finder *f, struct arena *arena, struct residents *residents) {
    residents->hosts = f->hosts;
    residents->host_count = f->host_count;
    residents->host_handed_to = arena_push_raw(arena, f->guest_count, sizeof *residents->host_handed_to);
    for (uint32_t g = 0; g < f->guest_count && residents->host_handed_to; g++)
        residents->host_handed_to[g] = f->guests[g].host_handed_to;
    return residents->host_handed_to != NULL;
}

static bool extend_columns(const struct finder *f, struct arena *arena, struct residents *residents) {
    uint32_t count = f->module->buffer_count, all = count + f->guest_count;
    struct hlo_buffer *buffers = arena_push_raw(arena, all, sizeof *buffers);
    uint32_t *leaves = arena_push_raw(arena, all, sizeof *leaves);
    if (!buffers || !leaves) return false;
    for (uint32_t i = 0; i < all; i++) {
        uint32_t from = i < count ? i : f->guests[i - count].buffer;
        buffers[i] = f->module->buffers[from];
        leaves[i] = f->graph->leaf_of_buffer[from];
    }
    f->graph->leaf_of_buffer = leaves;
    residents->module.buffers = buffers;
    residents->module.buffer_count = all;
    return true;
}

// No program has so many bytes in its outputs: sums of them would pass int64.
static bool sum_guests(const struct finder *f, int64_t *sum) {
    *sum = 0;
    for (uint32_t g = 0; g < f->guest_count; g++) {
        if (f->guests[g].size_bytes > INT64_MAX / 4 - *sum) return false;
        *sum += f->guests[g].size_bytes;
    }
    return true;
}

bool residents_find(const struct hlo_module *module, struct program_graph *graph, const struct schedule *schedule,
                    struct heap_events events, struct arena *arena, struct residents *residents) {
    struct finder f = {.module = module, .graph = graph, .schedule = schedule};
    int64_t guest_bytes;
    *residents = (struct residents){.module = *module, .events = events, .first_guest = module->buffer_count};
    if (!events.count || !schedule->count) return true;
    uint32_t *times = time_events(&f, events, arena);
    if (!times || !find_guests(&f, arena)) return false;
    if (!sum_guests(&f, &guest_bytes)) return true;
    residents->guest_bytes = guest_bytes;
    qsort(f.guests, f.guest_count, sizeof *f.guests, by_start);
    residents->guest_count = f.guest_count;
    return weave(&f, events, times, arena, residents) && extend_columns(&f, arena, residents) &&
           keep_hosts(&f, arena, residents);
}
