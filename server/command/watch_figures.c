#include "server/command/watch_figures.h"

#include <string.h>

#include "analysis/base/device_kinds.h"
#include "analysis/device_memory/device_memory_tree.h"
#include "analysis/groups/frameworks.h"
#include "analysis/groups/memory_groups.h"
#include "analysis/memory/memory_summary.h"
#include "analysis/profile/questions/timeline_summary.h"
#include "server/store/device_memory_store.h"
#include "server/store/trace_store.h"

enum { HBM = 0 };

// --- A program ---

static const struct memory_summary *choose(const struct memory_summary_list *list) {
    const struct memory_summary *best = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct memory_summary *summary = &list->summaries[i];
        if (summary->space == HBM && summary->total_bytes > 0) return summary;
        if (summary->total_bytes > 0 && (!best || summary->peak_bytes > best->peak_bytes)) best = summary;
    }
    return best;
}

static bool find_top(const struct hlo_module *module, int64_t space, struct arena *arena, struct watch_line *line,
                     struct error *error) {
    struct memory_view *view = arena_new(arena, struct memory_view, 1);
    struct buffer_sources *sources = arena_new(arena, struct buffer_sources, 1);
    struct memory_grouping grouping;
    struct memory_groups groups;
    if (!view || !sources) return work_out_of_memory(error);
    if (!memory_view_build(module, space, MEMORY_VIEW_EXACT, arena, view, error) ||
        !buffer_sources_read(module, FRAMEWORKS_DEFAULT, arena, sources, error) ||
        !memory_grouping_make(view, sources, GROUP_BY_SOURCE, arena, &grouping, error) ||
        !memory_groups_at(&grouping, memory_groups_peak_step(view), arena, &groups, error))
        return false;
    if (groups.row_count == 0) return true;
    line->top = groups.rows[0].key;
    line->top_bytes = groups.rows[0].size_bytes;
    return true;
}

bool watch_program_figures(struct work *work, const struct input_file *file, const struct xspace_program *program,
                           struct watch_line *line, bool *is_empty, struct error *error) {
    struct found_module found;
    struct memory_summary_list list;
    *is_empty = true;
    if (!module_store_name(work, file, program, &found, error)) return false;
    const struct hlo_module *module = module_store_load(work, &found, error);
    if (!module || !memory_summaries(module, &work->arena, &list, error)) return false;
    const struct memory_summary *chosen = choose(&list);
    if (!chosen && list.fault.code != ERROR_NONE) *error = list.fault;
    if (!chosen) return list.fault.code == ERROR_NONE;
    *is_empty = false;
    line->space = chosen->space;
    line->peak_bytes = chosen->peak_bytes;
    line->has_total = true;
    line->total_bytes = chosen->total_bytes;
    return find_top(module, chosen->space, &work->arena, line, error);
}

static int64_t capacity_of_device(const struct trace_device *device) {
    char type[TRACE_TYPE_MAX_BYTES + 1] = "";
    if (device->memory_bytes) return device->memory_bytes;
    if (device->type.size) memcpy(type, device->type.data, device->type.size);
    const struct device_kind *kind = device_kind_of_profile(type);
    return kind ? device_kind_bytes(kind) : 0;
}

int64_t watch_capacity_of(struct work *work, const struct input_file *file) {
    struct error ignored;
    const struct trace_contents *contents = file->kind == PROFILE_FILE_XPLANE
                                                ? trace_store_contents(work, file, &ignored)
                                                : NULL;
    int64_t capacity = 0;
    for (size_t i = 0; contents && i < contents->device_count; i++) {
        int64_t own = capacity_of_device(&contents->devices[i]);
        if (own && capacity && own != capacity) return 0;
        if (own) capacity = own;
    }
    return capacity;
}

// --- Memory over time ---

void watch_memory_figures(const struct memory_profile *profile, const struct memory_timeline *timeline,
                          struct watch_line *line, bool *is_empty) {
    struct timeline_summary summary;
    timeline_summary_make(profile, timeline, &summary);
    *is_empty = !summary.tells.usage || summary.peak_row == MEMORY_EVENT_NONE;
    if (*is_empty) return;
    line->name = timeline->memory_id;
    line->peak_bytes = memory_timeline_used_bytes(timeline, summary.peak_row);
}

// --- A device memory profile ---

bool watch_device_memory_figures(struct work *work, const struct input_file *file, struct watch_line *line,
                                 struct error *error) {
    const struct device_memory_profile *profile = device_memory_store_load(work, file, error);
    struct device_memory_tree tree;
    if (!profile || !device_memory_tree_build(profile, DEVICE_MEMORY_OWN_FRAMES, &work->arena, &tree, error))
        return false;
    line->peak_bytes = tree.node_count ? tree.nodes[0].figures.total_bytes : 0;
    if (tree.top_count && tree.top[0].figures.self_bytes) {
        line->top = profile->functions[tree.top[0].function].name;
        line->top_bytes = tree.top[0].figures.self_bytes;
    }
    return true;
}
