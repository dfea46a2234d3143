#include "server/trend/trend_figures_store.h"

#include <inttypes.h>

#include "analysis/device_memory/device_memory_load.h"
#include "analysis/device_memory/device_memory_tree.h"
#include "analysis/groups/memory_groups.h"
#include "analysis/hlo/program_load.h"
#include "analysis/profile/questions/memory_breakdown.h"
#include "server/trend/holder_sums.h"

enum { FIGURES_LIMIT_BYTES = 16 << 20 };
static const size_t SCRATCH_LIMIT_BYTES = (size_t)4 << 30;

// --- A program ---

struct program_asked {
    const struct xspace_program *program;
    const struct trend_question *question;
};

static bool sum_groups(const struct memory_view *view, const struct buffer_sources *sources, enum memory_group_by by,
                       struct arena *scratch, struct arena *arena, struct trend_figures *figures, struct error *error) {
    struct memory_grouping grouping;
    struct memory_groups groups;
    struct holder_sums sums;
    if (!memory_grouping_make(view, sources, by, scratch, &grouping, error) ||
        !memory_groups_at(&grouping, memory_groups_peak_step(view), scratch, &groups, error))
        return false;
    if (!holder_sums_init(&sums, scratch)) return work_out_of_memory(error);
    for (uint32_t i = 0; i < groups.row_count; i++)
        holder_sums_add(&sums, groups.rows[i].key, groups.rows[i].size_bytes, groups.rows[i].buffers);
    return holder_sums_finish(&sums, arena, figures) || work_out_of_memory(error);
}

static bool read_program(const struct filling *from, struct arena *scratch, struct trend_figures *figures,
                         struct error *error) {
    const struct program_asked *asked = from->of;
    const struct trend_question *question = asked->question;
    struct hlo_module module;
    struct memory_view view;
    struct buffer_sources sources;
    if (!program_load(from->file, asked->program, from->source, scratch, &module, error)) return false;
    if (!memory_view_build(&module, question->space, MEMORY_VIEW_EXACT, scratch, &view, error) ||
        !buffer_sources_read(&module, question->frameworks, scratch, &sources, error) ||
        !sum_groups(&view, &sources, question->by, scratch, from->arena, figures, error))
        return error_in_file(error, from->file->path, (int64_t)asked->program->offset);
    figures->peak_bytes = view.peak_bytes;
    figures->total_bytes = view.totals.total_bytes;
    return true;
}

static bool fill_program(const struct filling *from, void *thing, struct error *error) {
    struct arena scratch;
    arena_init(&scratch, SCRATCH_LIMIT_BYTES);
    bool is_good = read_program(from, &scratch, thing, error);
    arena_free(&scratch);
    return is_good;
}

static const struct stored_kind program_kind = {.name = "trend of program",
                                                .thing_bytes = sizeof(struct trend_figures),
                                                .arena_limit_bytes = FIGURES_LIMIT_BYTES,
                                                .fill = fill_program};

const struct trend_figures *trend_figures_of_program(struct work *work, const struct found_module *found,
                                                     const struct trend_question *question, struct error *error) {
    const struct program_asked asked = {found->program, question};
    const char *key = arena_printf(&work->arena, "%s %" PRId64 " %s %zu %s %s", program_kind.name, question->space,
                                   memory_group_by_name(question->by), strlen(question->frameworks),
                                   question->frameworks, found->key);
    if (key) return file_store_get(work, &program_kind, key, found->file, &asked, error);
    work_out_of_memory(error);
    return NULL;
}

// --- The memories of a profile ---

// An allocator that does not tell what is in use is known by what was seen allocated.
static bool read_memory(const struct memory_profile *profile, const struct memory_timeline *timeline,
                        struct arena *scratch, struct arena *arena, struct trend_memory *memory, struct error *error) {
    uint32_t row = memory_breakdown_peak_row(profile, timeline);
    struct memory_breakdown breakdown = {0};
    struct holder_sums sums;
    if (!holder_sums_init(&sums, scratch)) return work_out_of_memory(error);
    if (row != MEMORY_EVENT_NONE && !memory_breakdown_make(profile, timeline, row, scratch, &breakdown, error))
        return false;
    for (uint32_t i = 0; i < breakdown.row_count; i++)
        holder_sums_add(&sums, profile->sites.sites[breakdown.rows[i].site].op, breakdown.rows[i].total_bytes,
                        breakdown.rows[i].occurrences);
    memory->memory_id = arena_string(arena, timeline->memory_id);
    memory->figures.peak_bytes = breakdown.heap_is_told ? memory_timeline_used_bytes(timeline, row)
                                                        : breakdown.heap_bytes;
    memory->figures.total_bytes = TREND_UNKNOWN;
    return (memory->memory_id && holder_sums_finish(&sums, arena, &memory->figures)) || work_out_of_memory(error);
}

static bool read_memories(const struct filling *from, struct arena *scratch, struct trend_memories *memories,
                          struct error *error) {
    struct memory_profile profile;
    if (!memory_profile_read(from->source, scratch, &profile, error)) return false;
    bool is_good = profile.fault.code == ERROR_NONE;
    if (!is_good) *error = profile.fault;
    memories->list = arena_new(from->arena, struct trend_memory, profile.timeline_count + 1);
    if (is_good && !memories->list) is_good = work_out_of_memory(error);
    for (size_t i = 0; is_good && i < profile.timeline_count; i++)
        is_good = read_memory(&profile, &profile.timelines[i], scratch, from->arena, &memories->list[memories->count++],
                              error);
    memory_profile_free(&profile);
    return is_good;
}

static bool fill_memories(const struct filling *from, void *thing, struct error *error) {
    struct arena scratch;
    arena_init(&scratch, SCRATCH_LIMIT_BYTES);
    bool is_good = read_memories(from, &scratch, thing, error);
    arena_free(&scratch);
    return is_good;
}

static const struct stored_kind memories_kind = {.name = "trend of profile",
                                                 .thing_bytes = sizeof(struct trend_memories),
                                                 .arena_limit_bytes = FIGURES_LIMIT_BYTES,
                                                 .fill = fill_memories};

const struct trend_memories *trend_figures_of_profile(struct work *work, const struct input_file *file,
                                                      struct error *error) {
    const char *key = file_store_key(work, memories_kind.name, file, error);
    return key ? file_store_get(work, &memories_kind, key, file, NULL, error) : NULL;
}

// --- Python's arrays ---

// "train.py:53"; where a stack has no line, its function.
static struct bytes place_of(const struct device_memory_profile *profile, uint32_t frame, struct arena *arena) {
    if (frame == DEVICE_MEMORY_NONE) return BYTES("(unknown)");
    const struct device_memory_frame *place = &profile->frames[frame];
    const struct device_memory_function *function = &profile->functions[place->function];
    struct bytes file = function->file;
    for (size_t i = file.size; i > 0; i--) {
        if (file.data[i - 1] != '/') continue;
        file = (struct bytes){file.data + i, file.size - i};
        break;
    }
    if (file.size == 0 || place->line <= 0) return function->name;
    const char *text = arena_printf(arena, "%.*s:%" PRId64, (int)(file.size < 200 ? file.size : 200),
                                    (const char *)file.data, place->line);
    return text ? bytes_of(text) : function->name;
}

static bool read_arrays(const struct filling *from, struct arena *scratch, struct trend_figures *figures,
                        struct error *error) {
    struct device_memory_profile profile;
    struct device_memory_tree tree;
    struct holder_sums sums;
    if (!device_memory_profile_read(from->source, scratch, &profile, error) ||
        !device_memory_tree_build(&profile, DEVICE_MEMORY_OWN_FRAMES, scratch, &tree, error))
        return false;
    if (!holder_sums_init(&sums, scratch)) return work_out_of_memory(error);
    for (uint32_t i = 0; i < tree.node_count; i++) {
        const struct device_memory_node *node = &tree.nodes[i];
        if (node->figures.self_bytes)
            holder_sums_add(&sums, place_of(&profile, node->frame, scratch), node->figures.self_bytes,
                            (uint32_t)(node->figures.self_count < UINT32_MAX ? node->figures.self_count : UINT32_MAX));
    }
    figures->peak_bytes = profile.bytes;
    figures->total_bytes = TREND_UNKNOWN;
    return holder_sums_finish(&sums, from->arena, figures) || work_out_of_memory(error);
}

static bool fill_arrays(const struct filling *from, void *thing, struct error *error) {
    struct arena scratch;
    arena_init(&scratch, SCRATCH_LIMIT_BYTES);
    bool is_good = read_arrays(from, &scratch, thing, error);
    arena_free(&scratch);
    return is_good;
}

static const struct stored_kind arrays_kind = {.name = "trend of arrays",
                                               .thing_bytes = sizeof(struct trend_figures),
                                               .arena_limit_bytes = FIGURES_LIMIT_BYTES,
                                               .fill = fill_arrays};

const struct trend_figures *trend_figures_of_arrays(struct work *work, const struct input_file *file,
                                                    struct error *error) {
    const char *key = file_store_key(work, arrays_kind.name, file, error);
    return key ? file_store_get(work, &arrays_kind, key, file, NULL, error) : NULL;
}
