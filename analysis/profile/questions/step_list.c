#include "analysis/profile/questions/step_list.h"

#include <stdlib.h>

#include "analysis/base/id_map.h"
#include "analysis/profile/questions/timeline_replay.h"

enum { FIRST_CAPACITY = 256 };

// The ids of the steps, each once, in order of appearance.
struct step_ids {
    struct arena *arena;
    int64_t *ids;
    uint32_t count, capacity;
    struct id_map index_of;
};

static bool grow(struct step_ids *s) {
    if (s->capacity > UINT32_MAX / 2) return false;
    uint32_t capacity = s->capacity ? s->capacity * 2 : FIRST_CAPACITY;
    int64_t *ids = arena_push_raw(s->arena, capacity, sizeof *ids);
    if (!ids || !id_map_init(&s->index_of, s->arena, capacity)) return false;
    if (s->count) memcpy(ids, s->ids, s->count * sizeof *ids);
    for (uint32_t i = 0; i < s->count; i++) id_map_put(&s->index_of, ids[i], i);
    s->ids = ids;
    s->capacity = capacity;
    return true;
}

static bool put(struct step_ids *s, int64_t id) {
    if (s->count == s->capacity && !grow(s)) return false;
    if (id_map_put(&s->index_of, id, s->count)) s->ids[s->count++] = id;
    return true;
}

static bool collect_ids(const struct memory_profile *profile, const struct memory_timeline *t, struct step_ids *s) {
    for (size_t i = 0; i < profile->step_count; i++) {
        if (!put(s, profile->steps[i].id)) return false;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        bool is_new_run = i == 0 || t->step[i] != t->step[i - 1];
        if (is_new_run && !put(s, t->step[i])) return false;
    }
    return true;
}

static void take_roots(const struct memory_profile *profile, const struct step_ids *s, struct memory_step *steps) {
    for (uint32_t i = 0; i < s->count; i++) steps[i].id = s->ids[i];
    for (size_t i = 0; i < profile->step_count; i++) {
        const struct profile_step *root = &profile->steps[i];
        struct memory_step *step = &steps[id_map_get(&s->index_of, root->id)];
        if (step->has_root) continue;
        step->has_root = true;
        step->name = root->name;
        step->begin_ps = root->begin_ps;
        step->end_ps = root->end_ps;
    }
}

static void add_event(struct memory_step *step, const struct memory_timeline *t, uint32_t row) {
    if (!step->has_root) {
        if (!step->has_event) step->begin_ps = t->time_ps[row];
        step->end_ps = t->time_ps[row];
    }
    step->has_event = true;
    if (memory_timeline_is_free(t, row))
        step->frees++;
    else
        step->allocations++;
    if (!(t->flags[row] & MEMORY_EVENT_HAS_STATE)) return;
    int64_t used = memory_timeline_used_bytes(t, row);
    if (!step->has_peak || used > step->peak_bytes) step->peak_bytes = used;
    step->has_peak = true;
}

static void add_events(const struct memory_timeline *t, const struct step_ids *s, struct memory_step *steps) {
    uint32_t step = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        bool is_new_run = i == 0 || t->step[i] != t->step[i - 1];
        if (is_new_run) step = id_map_get(&s->index_of, t->step[i]);
        add_event(&steps[step], t, i);
    }
}

static int by_end(const void *a, const void *b) {
    const struct memory_step *x = a, *y = b;
    if (x->end_ps != y->end_ps) return x->end_ps < y->end_ps ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

// Heap and use of the last event that told them.
struct state {
    int64_t heap_bytes, used_bytes;
};

static struct state state_before_events(const struct memory_profile *profile, const struct memory_timeline *t) {
    if (!t->count || !(t->flags[0] & MEMORY_EVENT_HAS_STATE)) return (struct state){0};
    uint64_t moved = (uint64_t)timeline_moved_bytes(profile, t, 0);
    return (struct state){(int64_t)((uint64_t)t->heap_bytes[0] - moved),
                          (int64_t)((uint64_t)memory_timeline_used_bytes(t, 0) - moved)};
}

static void find_ends(const struct memory_profile *profile, const struct memory_timeline *t, struct step_list *list) {
    struct state state = state_before_events(profile, t);
    uint32_t row = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        struct memory_step *step = &list->steps[i];
        for (; row < t->count && t->time_ps[row] <= step->end_ps; row++) {
            if (!(t->flags[row] & MEMORY_EVENT_HAS_STATE)) continue;
            state = (struct state){t->heap_bytes[row], memory_timeline_used_bytes(t, row)};
        }
        step->end_row = row;
        step->heap_at_end_bytes = state.heap_bytes;
        if (!step->has_peak) step->peak_bytes = state.used_bytes;
    }
}

bool step_list_make(const struct memory_profile *profile, const struct memory_timeline *timeline, struct arena *arena,
                    struct step_list *list, struct error *error) {
    struct step_ids ids = {.arena = arena};
    *list = (struct step_list){0};
    if (collect_ids(profile, timeline, &ids)) list->steps = arena_new(arena, struct memory_step, ids.count);
    if (!list->steps) {
        return error_set(error, ERROR_TOO_BIG, "no memory left for the steps of %u events", timeline->count);
    }
    list->count = ids.count;
    take_roots(profile, &ids, list->steps);
    add_events(timeline, &ids, list->steps);
    if (list->count) qsort(list->steps, list->count, sizeof *list->steps, by_end);
    find_ends(profile, timeline, list);
    return true;
}
