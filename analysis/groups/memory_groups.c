#include "analysis/groups/memory_groups.h"

#include <stdlib.h>

static bool too_big(struct error *error) {
    return error_set(error, ERROR_TOO_BIG, "no memory left to sum the buffers of a step");
}

uint32_t memory_groups_last_step(const struct memory_view *view) {
    return view->has_simulation ? view->replay.step_count - 1 : 0;
}

uint32_t memory_groups_peak_step(const struct memory_view *view) {
    return view->has_simulation ? view->replay.peak_position : 0;
}

bool memory_groups_step(const struct memory_view *view, int64_t asked, uint32_t *step, struct error *error) {
    uint32_t last = memory_groups_last_step(view);
    *step = asked == MEMORY_GROUPS_AT_PEAK ? memory_groups_peak_step(view) : (uint32_t)asked;
    return asked == MEMORY_GROUPS_AT_PEAK || (asked >= 0 && asked <= last) ||
           error_set(error, ERROR_NOT_FOUND, "memory space %lld has no step %lld; the last is %u",
                     (long long)view->totals.space, (long long)asked, last);
}

// --- What is live ---

struct member {
    uint32_t row, key;
    int64_t size_bytes;
};

struct live {
    struct member *members;
    uint32_t count;
    int64_t explained_bytes;
};

static void add_member(const struct memory_grouping *grouping, uint32_t row, int64_t size_bytes, struct live *live) {
    live->members[live->count++] = (struct member){row, grouping->key_of_row[row], size_bytes};
    live->explained_bytes += size_bytes;  // at most the curve, which does not overflow
}

static bool list_live(const struct memory_grouping *grouping, uint32_t step, struct arena *arena, struct live *live) {
    const struct memory_view *view = grouping->view;
    const struct heap_replay *replay = &view->replay;
    live->members = arena_push_raw(arena, (size_t)view->indefinite_row_count + replay->stay_count,
                                   sizeof *live->members);
    if (!live->members) return false;
    for (uint32_t i = 0; i < view->indefinite_row_count; i++) add_member(grouping, i, view->rows[i].size_bytes, live);
    for (uint32_t i = 0; i < replay->stay_count && replay->stays[i].start_step <= step; i++) {
        const struct heap_stay *stay = &replay->stays[i];
        if (stay->end_step <= step) continue;
        add_member(grouping, view->indefinite_row_count + stay->span, view->module->buffers[stay->root].size_bytes,
                   live);
    }
    return true;
}

// --- Sums ---

static int64_t padding_of(const struct memory_view *view, const struct member *member) {
    const struct memory_buffer *row = &view->rows[member->row];
    bool is_known = row->unpadded_bytes >= 0 && row->unpadded_bytes <= member->size_bytes;
    return is_known ? member->size_bytes - row->unpadded_bytes : 0;
}

static int by_size(const void *left, const void *right) {
    const struct memory_group *a = left, *b = right;
    if (a->size_bytes != b->size_bytes) return a->size_bytes > b->size_bytes ? -1 : 1;
    return bytes_compare(a->key, b->key);
}

// The key of each group, in the order in which the members come.
static bool sum_up(const struct memory_grouping *grouping, const struct live *live, struct arena *arena,
                   struct memory_groups *groups) {
    uint32_t *group_of_key = arena_push_raw(arena, grouping->keys.count, sizeof *group_of_key);
    groups->rows = arena_push_raw(arena, (size_t)live->count + 1, sizeof *groups->rows);
    groups->members = arena_push_raw(arena, live->count, sizeof *groups->members);
    if (!group_of_key || !groups->rows || !groups->members) return false;
    memset(group_of_key, 0xff, grouping->keys.count * sizeof *group_of_key);
    for (uint32_t i = 0; i < live->count; i++) {
        const struct member *member = &live->members[i];
        uint32_t *place = &group_of_key[member->key];
        if (*place == HLO_NONE) {
            *place = groups->row_count++;
            groups->rows[*place] = (struct memory_group){.key = grouping->keys.texts[member->key]};
        }
        struct memory_group *group = &groups->rows[*place];
        group->size_bytes += member->size_bytes;
        group->padding_bytes += padding_of(grouping->view, member);
        group->buffers++;
    }
    uint32_t first = 0;
    groups->member_count = live->count;
    for (uint32_t i = 0; i < groups->row_count; i++) {
        groups->rows[i].first_member = first;
        first += groups->rows[i].buffers;
        groups->rows[i].buffers = 0;
    }
    for (uint32_t i = 0; i < live->count; i++) {
        struct memory_group *group = &groups->rows[group_of_key[live->members[i].key]];
        groups->members[group->first_member + group->buffers++] = live->members[i].row;
    }
    return true;
}

// A trace that takes the same bytes twice counts more than its buffers have.
static void add_unexplained(int64_t bytes, struct memory_groups *groups) {
    struct memory_group *unknown = NULL;
    for (uint32_t i = 0; i < groups->row_count && !unknown; i++) {
        if (bytes_equal(groups->rows[i].key, MEMORY_GROUP_UNKNOWN)) unknown = &groups->rows[i];
    }
    if (!unknown && bytes) {
        unknown = &groups->rows[groups->row_count++];
        *unknown = (struct memory_group){.key = MEMORY_GROUP_UNKNOWN};
    }
    if (!unknown) return;
    unknown->size_bytes += bytes;
    groups->unknown_bytes = unknown->size_bytes;
}

bool memory_groups_at(const struct memory_grouping *grouping, uint32_t step, struct arena *arena,
                      struct memory_groups *groups, struct error *error) {
    const struct memory_view *view = grouping->view;
    struct live live = {0};
    *groups = (struct memory_groups){.step = step, .live_bytes = view->indefinite_bytes};
    if (view->has_simulation) groups->live_bytes += view->replay.heap_bytes[step + 1];
    if (!list_live(grouping, step, arena, &live) || !sum_up(grouping, &live, arena, groups)) return too_big(error);
    add_unexplained(groups->live_bytes - live.explained_bytes, groups);
    if (groups->row_count) qsort(groups->rows, groups->row_count, sizeof *groups->rows, by_size);
    return true;
}
