#include "analysis/oom/oom_holders.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/groups/frameworks.h"
#include "analysis/groups/group_facts.h"

// --- Buffers of one size ---

static int larger_first(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a < b) - (a > b);
}

// The size that holds most of them together; sorts `sizes`.
static void find_alike(int64_t *sizes, size_t count, struct oom_holder *holder) {
    double most = 0;
    qsort(sizes, count, sizeof *sizes, larger_first);
    for (size_t i = 0, same; i < count; i += same) {
        for (same = 1; i + same < count && sizes[i + same] == sizes[i];) same++;
        if ((double)sizes[i] * (double)same <= most) continue;
        most = (double)sizes[i] * (double)same;
        holder->alike = (int64_t)same;
        holder->alike_bytes = sizes[i];
    }
}

// --- Of a program ---

static bool add_group(const struct memory_grouping *grouping, const struct buffer_sources *sources,
                      const struct memory_groups *groups, uint32_t i, struct arena *arena, struct oom_holder *holder) {
    const struct memory_group *group = &groups->rows[i];
    struct bytes about = group_facts_of(grouping, sources, groups, i, arena).about;
    int64_t *sizes = arena_push_raw(arena, (size_t)group->buffers + 1, sizeof *sizes);
    *holder = (struct oom_holder){.key = arena_string(arena, group->key),
                                  .about = about.size ? arena_string(arena, about) : NULL,
                                  .size_bytes = group->size_bytes,
                                  .buffers = group->buffers};
    if (!sizes || !holder->key) return false;
    if (groups->live_bytes > 0) holder->share = (double)group->size_bytes / (double)groups->live_bytes;
    for (uint32_t k = 0; k < group->buffers; k++)
        sizes[k] = grouping->view->rows[groups->members[group->first_member + k]].size_bytes;
    find_alike(sizes, group->buffers, holder);
    return true;
}

static bool fill(const struct memory_grouping *grouping, const struct buffer_sources *sources,
                 const struct memory_groups *groups, struct arena *arena, struct oom_holders *holders) {
    holders->is_by_names = grouping->rule == GROUP_RULE_NAMES;
    holders->rows = arena_new(arena, struct oom_holder, OOM_HOLDERS_MAX);
    if (!holders->rows) return false;
    for (uint32_t i = 0; i < groups->row_count; i++) {
        if (i < OOM_HOLDERS_MAX) {
            if (!add_group(grouping, sources, groups, i, arena, &holders->rows[holders->count++])) return false;
            continue;
        }
        holders->left_out++;
        holders->left_out_bytes += groups->rows[i].size_bytes;
    }
    return true;
}

bool oom_holders_read(const struct hlo_module *module, struct arena *arena, struct oom_holders *holders,
                      struct error *error) {
    struct memory_view view;
    struct buffer_sources sources;
    struct memory_grouping grouping;
    struct memory_groups groups;
    *holders = (struct oom_holders){0};
    if (!memory_view_build(module, 0, MEMORY_VIEW_EXACT, arena, &view, error) ||
        !buffer_sources_read(module, FRAMEWORKS_DEFAULT, arena, &sources, error) ||
        !memory_grouping_make(&view, &sources, GROUP_BY_SOURCE, arena, &grouping, error) ||
        !memory_groups_at(&grouping, memory_groups_peak_step(&view), arena, &groups, error))
        return false;
    return fill(&grouping, &sources, &groups, arena, holders) ||
           error_set(error, ERROR_TOO_BIG, "no memory left to say who holds it");
}

// --- Of a message ---

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *key_of(const struct oom_entry *entry) {
    if (entry->source) return file_name(entry->source);
    if (entry->op_name) return entry->op_name;
    return entry->label ? entry->label : entry->shape ? entry->shape : "unknown";
}

static int by_key(const void *left, const void *right) {
    const struct oom_entry *a = *(const struct oom_entry *const *)left, *b = *(const struct oom_entry *const *)right;
    return strcmp(key_of(a), key_of(b));
}

static int most_first(const void *left, const void *right) {
    const struct oom_holder *a = left, *b = right;
    if (a->size_bytes != b->size_bytes) return a->size_bytes < b->size_bytes ? 1 : -1;
    return strcmp(a->key, b->key);
}

// Entries of one key, which are neighbours.
static struct oom_holder holder_of(const struct oom_entry *const *entries, size_t count, int64_t *sizes) {
    struct oom_holder holder = {.key = key_of(entries[0]), .about = NULL, .buffers = (int64_t)count};
    for (size_t i = 0; i < count; i++) {
        sizes[i] = entries[i]->size_bytes;
        if (holder.size_bytes < INT64_MAX / 2 && sizes[i] < INT64_MAX / 2) holder.size_bytes += sizes[i];
    }
    find_alike(sizes, count, &holder);
    return holder;
}

static void set_shares(struct oom_holders *holders) {
    double whole = 0;
    for (size_t i = 0; i < holders->count; i++) whole += (double)holders->rows[i].size_bytes;
    for (size_t i = 0; i < holders->count; i++)
        holders->rows[i].share = whole > 0 ? (double)holders->rows[i].size_bytes / whole : 0;
}

static void leave_out(struct oom_holders *holders) {
    for (; holders->count > OOM_HOLDERS_MAX; holders->count--, holders->left_out++)
        holders->left_out_bytes += holders->rows[holders->count - 1].size_bytes;
}

void oom_holders_listed(const struct oom_message *message, struct arena *arena, struct oom_holders *holders) {
    size_t count = message->entry_count, same;
    const struct oom_entry **entries = arena_push_raw(arena, count + 1, sizeof(const struct oom_entry *));
    int64_t *sizes = arena_push_raw(arena, count + 1, sizeof *sizes);
    *holders = (struct oom_holders){.rows = arena_push_raw(arena, count + 1, sizeof *holders->rows), .is_listed = true};
    if (!entries || !sizes || !holders->rows) return;
    for (size_t i = 0; i < count; i++) entries[i] = &message->entries[i];
    qsort(entries, count, sizeof *entries, by_key);
    for (size_t i = 0; i < count; i += same) {
        for (same = 1; i + same < count && by_key(&entries[i], &entries[i + same]) == 0;) same++;
        holders->rows[holders->count++] = holder_of(entries + i, same, sizes);
    }
    qsort(holders->rows, holders->count, sizeof *holders->rows, most_first);
    set_shares(holders);
    leave_out(holders);
}
