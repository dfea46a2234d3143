#include "analysis/advice/unsqueezed.h"

#include "analysis/base/id_map.h"

static const uint64_t ANYWHERE = UINT64_MAX;

struct copies {
    const struct hlo_module *module;
    struct heap_events events;
    // The first buffer of a name without ".remat...", of its size, and its place in the value or ANYWHERE.
    struct id_map originals;
    uint32_t *original;    // of each buffer: the one that it is a copy of, itself, or HLO_NONE: no ALLOC of it so far
    uint32_t *last_freed;  // of each original: itself or its copy, whichever is freed last
    uint32_t copy_count;
    bool are_of_parts;
};

static struct bytes plain_name(struct bytes name) {
    size_t end = bytes_find(name, BYTES(".remat"));
    return end < name.size ? (struct bytes){name.data, end} : name;
}

static struct bytes plain_name_of(const struct copies *c, uint32_t buffer) {
    uint32_t instruction = c->module->buffers[buffer].instruction;
    return instruction == HLO_NONE ? (struct bytes){0} : plain_name(hlo_instruction_read(c->module, instruction).name);
}

static uint64_t place_in_value(const struct hlo_buffer *buffer) {
    int64_t index[HLO_SHAPE_INDEX_MAX] = {0};
    size_t depth = hlo_buffer_shape_index(buffer, index, HLO_SHAPE_INDEX_MAX);
    uint64_t place = depth;
    for (size_t i = 0; i < depth && i < HLO_SHAPE_INDEX_MAX; i++) place = id_map_mix(place + (uint64_t)index[i] + 1);
    return place;
}

static bool is_alone(const struct hlo_buffer *buffer) {
    int64_t index[HLO_SHAPE_INDEX_MAX];
    return hlo_buffer_shape_index(buffer, index, HLO_SHAPE_INDEX_MAX) == 0;
}

// Arrays of one instruction are no copies of each other. Of several that an instruction makes its copy may make one.
static bool is_copy(const struct copies *c, uint32_t original, uint32_t copy, struct bytes name) {
    const struct hlo_buffer *a = &c->module->buffers[original], *b = &c->module->buffers[copy];
    bool is_same_place = is_alone(b) || place_in_value(a) == place_in_value(b);
    return a->instruction != b->instruction && a->size_bytes == b->size_bytes && is_same_place &&
           bytes_equal(plain_name_of(c, original), name);
}

// The first buffer of this name, size and place; `buffer` itself where it is. NULL at the arena's limit.
static uint32_t *first_of(struct copies *c, uint32_t buffer, struct bytes name, uint64_t place) {
    uint64_t of_size = id_map_mix((uint64_t)c->module->buffers[buffer].size_bytes + place);
    uint32_t *first = id_map_place(&c->originals, (int64_t)((uint64_t)id_map_key(name) ^ of_size));
    if (first && *first == ID_MAP_NONE) *first = buffer;
    return first;
}

// Another layout of what is there: with room to spare it is made when it is wanted all the same.
static bool is_copied_only(const struct copies *c, uint32_t buffer) {
    return bytes_equal(hlo_instruction_read(c->module, c->module->buffers[buffer].instruction).opcode, BYTES("copy"));
}

static bool find_original(struct copies *c, uint32_t buffer) {
    struct bytes name = plain_name_of(c, buffer);
    c->original[buffer] = buffer;
    if (!name.size || is_copied_only(c, buffer)) return true;
    const uint32_t *same = first_of(c, buffer, name, place_in_value(&c->module->buffers[buffer]));
    uint32_t first = same ? *same : buffer;
    const uint32_t *other = first_of(c, buffer, name, ANYWHERE);
    if (!same || !other) return false;
    if (first == buffer && c->are_of_parts) first = *other;
    if (first == buffer || !is_copy(c, first, buffer, name)) return true;
    c->original[buffer] = c->original[first];
    c->copy_count++;
    return true;
}

static uint32_t original_of(const struct copies *c, uint32_t buffer) {
    return buffer == HLO_NONE ? HLO_NONE : c->original[buffer];
}

static bool find_copies(struct copies *c) {
    for (uint32_t e = 0; e < c->events.count; e++) {
        const struct hlo_event *event = &c->events.events[e];
        bool is_new = event->kind == HLO_EVENT_ALLOC && event->buffer != HLO_NONE &&
                      original_of(c, event->buffer) == HLO_NONE;
        if (is_new && !find_original(c, event->buffer)) return false;
        uint32_t original = original_of(c, event->buffer);
        if (event->kind == HLO_EVENT_FREE && original != HLO_NONE) c->last_freed[original] = event->buffer;
    }
    return true;
}

// Nobody takes over the bytes of an array that is needed again.
static struct hlo_event unsqueezed(const struct copies *c, struct hlo_event event) {
    uint32_t buffer = event.kind == HLO_EVENT_SHARE_WITH ? event.canonical : event.buffer;
    uint32_t original = original_of(c, buffer);
    if (original == HLO_NONE) return event;
    bool is_last = c->last_freed[original] == buffer;
    if (event.kind == HLO_EVENT_SHARE_WITH) {
        event.canonical = is_last ? original : HLO_NONE;
        if (!is_last) event.kind = HLO_EVENT_ALLOC;
        return event;
    }
    bool is_kept = event.kind == HLO_EVENT_ALLOC ? buffer == original : is_last;
    event.buffer = is_kept ? original : HLO_NONE;
    return event;
}

static bool rewrite(const struct copies *c, struct arena *arena, struct heap_events *result) {
    struct hlo_event *events = arena_push_raw(arena, c->events.count, sizeof *events);
    if (!events) return false;
    for (uint32_t e = 0; e < c->events.count; e++) events[e] = unsqueezed(c, c->events.events[e]);
    *result = (struct heap_events){events, c->events.count};
    return true;
}

static uint32_t *new_column(struct arena *arena, uint32_t count) {
    uint32_t *column = arena_push_raw(arena, count, sizeof *column);
    for (uint32_t i = 0; i < count && column; i++) column[i] = HLO_NONE;
    return column;
}

static bool find_on(struct copies *c, struct arena *scratch) {
    c->original = new_column(scratch, c->module->buffer_count);
    c->last_freed = new_column(scratch, c->module->buffer_count);
    bool has_room = c->original && c->last_freed &&
                    id_map_init(&c->originals, scratch, 2 * (size_t)c->module->buffer_count);
    return has_room && find_copies(c);
}

bool unsqueezed_events(const struct hlo_module *module, struct heap_events events, bool are_of_parts,
                       struct arena *arena, struct heap_events *result) {
    struct copies c = {.module = module, .events = events, .are_of_parts = are_of_parts};
    struct arena scratch;
    *result = events;
    arena_init(&scratch, arena->limit_bytes);
    bool is_good = find_on(&c, &scratch) && (c.copy_count == 0 || rewrite(&c, arena, result));
    arena_free(&scratch);
    return is_good;
}
