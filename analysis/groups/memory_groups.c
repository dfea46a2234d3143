#include "analysis/groups/memory_groups.h"

#include <stdlib.h>

#include "analysis/groups/live_rows.h"

static bool too_big(struct error *error) {
    return error_set(error, ERROR_TOO_BIG, "no memory left to sum the buffers of a step");
}

uint32_t memory_groups_last_step(const struct memory_view *view) {
    return view->has_simulation ? view->replay.step_count - 1 : 0;
}

uint32_t memory_groups_peak_step(const struct memory_view *view) {
    return view->has_simulation ? view->replay.peak_position : 0;
}

bool memory_groups_step_of(int64_t space, uint32_t peak, uint32_t last, int64_t asked, uint32_t *step,
                           struct error *error) {
    *step = asked == MEMORY_GROUPS_AT_PEAK ? peak : (uint32_t)asked;
    return asked == MEMORY_GROUPS_AT_PEAK || (asked >= 0 && asked <= last) ||
           error_set(error, ERROR_NOT_FOUND, "memory space %lld has no step %lld; the last is %u", (long long)space,
                     (long long)asked, last);
}

bool memory_groups_step(const struct memory_view *view, int64_t asked, uint32_t *step, struct error *error) {
    return memory_groups_step_of(view->totals.space, memory_groups_peak_step(view), memory_groups_last_step(view),
                                 asked, step, error);
}

// --- Rows ---

static int64_t padding_of(const struct memory_buffer *row, int64_t size_bytes) {
    bool is_known = row->unpadded_bytes >= 0 && row->unpadded_bytes <= size_bytes;
    return is_known ? size_bytes - row->unpadded_bytes : 0;
}

// Without a simulation there is one step, and all live in it.
static int64_t size_x_lifetime_of(const struct memory_view *view, uint32_t index, int64_t size_bytes) {
    const struct memory_buffer *row = &view->rows[index];
    int64_t steps = view->has_simulation ? (int64_t)row->end_step - row->start_step : 1;
    int64_t product;
    return __builtin_mul_overflow(size_bytes, steps, &product) ? INT64_MAX : product;
}

struct grouped_row grouped_row_of(const struct memory_grouping *grouping, uint32_t row, int64_t size_bytes) {
    return (struct grouped_row){
        .row = row,
        .key = grouping->key_of_row[row],
        .size_bytes = size_bytes,
        .padding_bytes = padding_of(&grouping->view->rows[row], size_bytes),
        .size_x_lifetime = size_x_lifetime_of(grouping->view, row, size_bytes),
    };
}

// --- Sums ---

static void add_capped(int64_t *sum, int64_t part) {
    if (__builtin_add_overflow(*sum, part, sum)) *sum = INT64_MAX;
}

static void add_to_group(const struct grouped_row *row, struct memory_group *group) {
    group->size_bytes += row->size_bytes;
    group->padding_bytes += row->padding_bytes;
    add_capped(&group->size_x_lifetime, row->size_x_lifetime);
    group->buffers++;
}

// The rows of each group one after the other, in the order in which they come.
static void list_members(const struct grouped_row *rows, uint32_t count, const uint32_t *group_of_key,
                         struct memory_groups *groups) {
    uint32_t first = 0;
    groups->member_count = count;
    for (uint32_t i = 0; i < groups->row_count; i++) {
        groups->rows[i].first_member = first;
        first += groups->rows[i].buffers;
        groups->rows[i].buffers = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct memory_group *group = &groups->rows[group_of_key[rows[i].key]];
        groups->members[group->first_member + group->buffers++] = rows[i].row;
    }
}

// A trace that takes the same bytes twice counts more than its buffers have.
static void add_unexplained(const struct string_table *keys, int64_t bytes, struct memory_groups *groups) {
    struct memory_group *unknown = NULL;
    for (uint32_t i = 0; i < groups->row_count && !unknown; i++) {
        if (bytes_equal(groups->rows[i].key, MEMORY_GROUP_UNKNOWN)) unknown = &groups->rows[i];
    }
    if (!unknown && bytes) {
        unknown = &groups->rows[groups->row_count++];
        *unknown = (struct memory_group){.key = MEMORY_GROUP_UNKNOWN,
                                         .key_number = string_table_find(keys, MEMORY_GROUP_UNKNOWN)};
    }
    if (!unknown) return;
    unknown->size_bytes += bytes;
    groups->unknown_bytes = unknown->size_bytes;
}

bool memory_groups_sum(const struct string_table *keys, const struct grouped_row *rows, uint32_t count,
                       int64_t live_bytes, struct arena *arena, struct memory_groups *groups) {
    uint32_t *group_of_key = arena_push_raw(arena, keys->count, sizeof *group_of_key);
    int64_t unexplained = live_bytes;
    groups->live_bytes = live_bytes;
    groups->rows = arena_push_raw(arena, (size_t)count + 1, sizeof *groups->rows);
    groups->members = arena_push_raw(arena, count, sizeof *groups->members);
    if (!group_of_key || !groups->rows || !groups->members) return false;
    memset(group_of_key, 0xff, keys->count * sizeof *group_of_key);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t key = rows[i].key, *place = &group_of_key[key];
        if (*place == HLO_NONE) {
            *place = groups->row_count++;
            groups->rows[*place] = (struct memory_group){.key = keys->texts[key], .key_number = key};
        }
        add_to_group(&rows[i], &groups->rows[*place]);
        unexplained -= rows[i].size_bytes;
    }
    list_members(rows, count, group_of_key, groups);
    add_unexplained(keys, unexplained, groups);
    memory_groups_weigh(groups, GROUP_WEIGHT_SIZE);
    return true;
}

bool memory_groups_at(const struct memory_grouping *grouping, uint32_t step, struct arena *arena,
                      struct memory_groups *groups, struct error *error) {
    struct live_rows live;
    *groups = (struct memory_groups){.step = step};
    if (!live_rows_at(grouping->view, step, arena, &live)) return too_big(error);
    struct grouped_row *rows = arena_push_raw(arena, live.count, sizeof *rows);
    for (uint32_t i = 0; rows && i < live.count; i++)
        rows[i] = grouped_row_of(grouping, live.rows[i].row, live.rows[i].size_bytes);
    return (rows && memory_groups_sum(&grouping->keys, rows, live.count, live.live_bytes, arena, groups)) ||
           too_big(error);
}

// --- Weights ---

static const char *const weight_names[GROUP_WEIGHT_COUNT] = {
    [GROUP_WEIGHT_SIZE] = "size",
    [GROUP_WEIGHT_PADDING] = "padding",
    [GROUP_WEIGHT_SIZE_X_LIFETIME] = "size_x_lifetime",
};

const char *memory_group_weight_name(enum memory_group_weight weight) {
    return weight_names[weight];
}

bool memory_group_weight_of(const char *name, enum memory_group_weight *weight) {
    for (int i = 0; i < GROUP_WEIGHT_COUNT; i++) {
        *weight = (enum memory_group_weight)i;
        if (strcmp(weight_names[i], name) == 0) return true;
    }
    return false;
}

static int by_key(const struct memory_group *a, const struct memory_group *b) {
    if (a->size_bytes != b->size_bytes) return a->size_bytes > b->size_bytes ? -1 : 1;
    return bytes_compare(a->key, b->key);
}

static int by_size(const void *left, const void *right) {
    return by_key(left, right);
}

static int by_padding(const void *left, const void *right) {
    const struct memory_group *a = left, *b = right;
    if (a->padding_bytes != b->padding_bytes) return a->padding_bytes > b->padding_bytes ? -1 : 1;
    return by_key(a, b);
}

static int by_size_x_lifetime(const void *left, const void *right) {
    const struct memory_group *a = left, *b = right;
    if (a->size_x_lifetime != b->size_x_lifetime) return a->size_x_lifetime > b->size_x_lifetime ? -1 : 1;
    return by_key(a, b);
}

static double weight_of(const struct memory_groups *groups, const struct memory_group *group) {
    if (groups->weight == GROUP_WEIGHT_PADDING) return (double)group->padding_bytes;
    if (groups->weight == GROUP_WEIGHT_SIZE_X_LIFETIME) return (double)group->size_x_lifetime;
    return (double)group->size_bytes;
}

void memory_groups_weigh(struct memory_groups *groups, enum memory_group_weight weight) {
    static int (*const orders[GROUP_WEIGHT_COUNT])(const void *, const void *) = {
        [GROUP_WEIGHT_SIZE] = by_size,
        [GROUP_WEIGHT_PADDING] = by_padding,
        [GROUP_WEIGHT_SIZE_X_LIFETIME] = by_size_x_lifetime,
    };
    groups->weight = weight;
    groups->whole_weight = 0;
    for (uint32_t i = 0; i < groups->row_count; i++) groups->whole_weight += weight_of(groups, &groups->rows[i]);
    if (groups->row_count) qsort(groups->rows, groups->row_count, sizeof *groups->rows, orders[weight]);
}

double memory_group_share(const struct memory_groups *groups, const struct memory_group *group) {
    return groups->whole_weight > 0 ? weight_of(groups, group) / groups->whole_weight : 0;
}
