#include "server/store/peak_store.h"

#include <inttypes.h>

#include "analysis/device_memory/device_memory_tree.h"
#include "analysis/profile/questions/memory_breakdown.h"
#include "analysis/profile/questions/timeline_replay.h"
#include "server/store/device_memory_store.h"

enum { PEAKS_ARENA_LIMIT_BYTES = 256 << 20 };

static const size_t SCRATCH_LIMIT_BYTES = (size_t)2 << 30;

static bool out_of_memory(struct error *error) {
    return work_out_of_memory(error);
}

static struct bytes keep(struct bytes text, struct arena *arena) {
    const char *kept = arena_string(arena, text);
    return kept ? (struct bytes){(const uint8_t *)kept, text.size} : (struct bytes){0};
}

// --- Of a Memory Profile ---

static int64_t step_of(int64_t step) {
    return step == STEP_UNKNOWN ? PEAK_STEP_UNKNOWN : step;
}

static bool take_ops(const struct memory_profile *profile, const struct memory_breakdown *breakdown,
                     struct arena *arena, struct memory_peak *peak) {
    peak->holders = arena_new(arena, struct peak_holder, breakdown->row_count + 1);
    if (!peak->holders) return false;
    for (uint32_t i = 0; i < breakdown->row_count; i++) {
        const struct memory_breakdown_row *row = &breakdown->rows[i];
        peak->holders[i] = (struct peak_holder){profile->sites.sites[row->site].op, row->total_bytes,
                                                step_of(row->first_step)};
    }
    peak->holder_count = breakdown->row_count;
    memory_peak_settle(peak);
    for (uint32_t i = 0; i < peak->holder_count; i++) {
        peak->holders[i].name = keep(peak->holders[i].name, arena);
        if (!peak->holders[i].name.data) return false;
    }
    return true;
}

static bool take_peak(const struct memory_profile *profile, const struct memory_timeline *timeline,
                      struct arena *scratch, struct arena *arena, struct memory_peak *peak, struct error *error) {
    uint32_t row = memory_breakdown_peak_row(profile, timeline);
    struct memory_breakdown breakdown;
    if (!memory_breakdown_make(profile, timeline, row, scratch, &breakdown, error)) return false;
    bool is_told = breakdown.heap_is_told && timeline_tells(timeline).usage;
    *peak = (struct memory_peak){.memory_id = keep(timeline->memory_id, arena),
                                 .is_told = is_told,
                                 .bytes = is_told ? memory_timeline_used_bytes(timeline, row)
                                                  : breakdown.explained_bytes,
                                 .time_ps = timeline->time_ps[row],
                                 .step = step_of(timeline->step[row]),
                                 .unexplained_bytes = is_told ? breakdown.unexplained_bytes : 0};
    return (peak->memory_id.data && take_ops(profile, &breakdown, arena, peak)) || out_of_memory(error);
}

static bool take_peaks(const struct memory_profile *profile, struct arena *arena, struct memory_peaks *peaks,
                       struct error *error) {
    bool is_good = true;
    for (size_t i = 0; is_good && i < profile->timeline_count; i++) {
        struct arena scratch;
        arena_init(&scratch, SCRATCH_LIMIT_BYTES);
        const struct memory_timeline *timeline = &profile->timelines[i];
        if (timeline->count)
            is_good = take_peak(profile, timeline, &scratch, arena, &peaks->peaks[peaks->count++], error);
        arena_free(&scratch);
    }
    return is_good;
}

bool peaks_of_profile(const struct memory_profile *profile, struct arena *arena, struct memory_peaks *peaks,
                      struct error *error) {
    *peaks = (struct memory_peaks){.fault = profile->fault};
    peaks->peaks = arena_new(arena, struct memory_peak, profile->timeline_count + 1);
    return peaks->peaks ? take_peaks(profile, arena, peaks, error) : out_of_memory(error);
}

// --- Of a device memory profile ---

static struct bytes last_part(struct bytes path) {
    size_t at = path.size;
    while (at > 0 && path.data[at - 1] != '/') at--;
    return (struct bytes){path.data + at, path.size - at};
}

// "make_batch (train.py:12)"
static struct bytes line_name(const struct device_memory_profile *profile, uint32_t frame_index, struct arena *arena) {
    if (frame_index == DEVICE_MEMORY_NONE) return keep(BYTES("(no stack)"), arena);
    const struct device_memory_frame *frame = &profile->frames[frame_index];
    const struct device_memory_function *function = &profile->functions[frame->function];
    struct bytes file = last_part(function->file);
    const char *name = arena_printf(arena, "%.*s (%.*s:%" PRId64 ")", (int)function->name.size,
                                    (const char *)function->name.data, (int)file.size, (const char *)file.data,
                                    frame->line);
    return name ? bytes_of(name) : (struct bytes){0};
}

// The peak of a device, which many groups may be of.
static struct memory_peak *peak_of_device(struct memory_peaks *peaks, struct bytes device) {
    for (size_t i = 0; i < peaks->count; i++) {
        if (bytes_equal(peaks->peaks[i].memory_id, device)) return &peaks->peaks[i];
    }
    return NULL;
}

static bool take_devices(const struct device_memory_profile *profile, struct arena *arena, struct memory_peaks *peaks,
                         uint32_t *peak_of_group) {
    for (uint32_t i = 0; i < profile->group_count; i++) {
        const struct device_memory_group *group = &profile->groups[i];
        peak_of_group[i] = UINT32_MAX;
        if (group->device.size == 0) continue;  // of no device: code that is loaded
        struct memory_peak *peak = peak_of_device(peaks, group->device);
        if (!peak) {
            peak = &peaks->peaks[peaks->count++];
            *peak = (struct memory_peak){
                .memory_id = keep(group->device, arena), .is_told = true, .step = PEAK_STEP_UNKNOWN};
        }
        if (!peak->memory_id.data) return false;
        peak->bytes = (int64_t)((uint64_t)peak->bytes + (uint64_t)group->bytes);
        peak_of_group[i] = (uint32_t)(peak - peaks->peaks);
    }
    return true;
}

static bool take_lines(const struct device_memory_profile *profile, const struct device_memory_tree *tree,
                       const uint32_t *peak_of_group, struct arena *arena, struct memory_peaks *peaks) {
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < tree->part_count; i++) {
            const struct device_memory_part *part = &tree->parts[i];
            if (part->figures.self_bytes == 0 || peak_of_group[part->group] == UINT32_MAX) continue;
            struct memory_peak *peak = &peaks->peaks[peak_of_group[part->group]];
            uint32_t at = peak->holder_count++;
            if (pass == 0) continue;
            struct bytes name = line_name(profile, tree->nodes[part->node].frame, arena);
            if (!name.data) return false;
            peak->holders[at] = (struct peak_holder){name, part->figures.self_bytes, PEAK_STEP_UNKNOWN};
        }
        for (size_t i = 0; i < peaks->count && pass == 0; i++) {
            struct memory_peak *peak = &peaks->peaks[i];
            peak->holders = arena_new(arena, struct peak_holder, peak->holder_count + 1);
            if (!peak->holders) return false;
            peak->holder_count = 0;
        }
    }
    for (size_t i = 0; i < peaks->count; i++) memory_peak_settle(&peaks->peaks[i]);
    return true;
}

static bool take_tree(const struct device_memory_profile *profile, struct arena *scratch, struct arena *arena,
                      struct memory_peaks *peaks, struct error *error) {
    struct device_memory_tree tree;
    uint32_t *peak_of_group = arena_new(scratch, uint32_t, profile->group_count + 1);
    if (!peak_of_group) return out_of_memory(error);
    if (!device_memory_tree_build(profile, DEVICE_MEMORY_OWN_FRAMES, scratch, &tree, error)) return false;
    return (take_devices(profile, arena, peaks, peak_of_group) &&
            take_lines(profile, &tree, peak_of_group, arena, peaks)) ||
           out_of_memory(error);
}

bool peaks_of_device_memory(const struct device_memory_profile *profile, struct arena *arena,
                            struct memory_peaks *peaks, struct error *error) {
    struct arena scratch;
    *peaks = (struct memory_peaks){.peaks = arena_new(arena, struct memory_peak, profile->group_count + 1)};
    if (!peaks->peaks) return out_of_memory(error);
    arena_init(&scratch, SCRATCH_LIMIT_BYTES);
    bool is_good = take_tree(profile, &scratch, arena, peaks, error);
    arena_free(&scratch);
    return is_good;
}

// --- Kept ---

// A profile that is damaged has the peaks of what stands before the fault.
static bool fill_of_profile(const struct filling *from, void *thing, struct error *error) {
    const struct work *asker = from->of;
    struct work work;
    work_init_for(&work, asker);
    const struct memory_profile *profile = profile_store_load(&work, from->file, error);
    bool is_good = profile && peaks_of_profile(profile, from->arena, thing, error);
    work_free(&work);
    return is_good;
}

static bool fill_of_device_memory(const struct filling *from, void *thing, struct error *error) {
    const struct work *asker = from->of;
    struct work work;
    work_init_for(&work, asker);
    const struct device_memory_profile *profile = device_memory_store_load(&work, from->file, error);
    bool is_good = profile && peaks_of_device_memory(profile, from->arena, thing, error);
    work_free(&work);
    return is_good;
}

static const struct stored_kind profile_peaks_kind = {.name = "peaks",
                                                      .thing_bytes = sizeof(struct memory_peaks),
                                                      .arena_limit_bytes = PEAKS_ARENA_LIMIT_BYTES,
                                                      .is_derived = true,
                                                      .fill = fill_of_profile};
static const struct stored_kind device_memory_peaks_kind = {.name = "device_memory_peaks",
                                                            .thing_bytes = sizeof(struct memory_peaks),
                                                            .arena_limit_bytes = PEAKS_ARENA_LIMIT_BYTES,
                                                            .is_derived = true,
                                                            .fill = fill_of_device_memory};

static const struct memory_peaks *load(struct work *work, const struct stored_kind *kind, const struct input_file *file,
                                       struct error *error) {
    const char *key = file_store_key(work, kind->name, file, error);
    return key ? file_store_get(work, kind, key, file, work, error) : NULL;
}

static const struct memory_peaks *known(struct work *work, const struct stored_kind *kind,
                                        const struct input_file *file) {
    struct error ignored;
    const char *key = file_store_key(work, kind->name, file, &ignored);
    return key ? file_store_peek(work, key) : NULL;
}

const struct memory_peaks *peak_store_of_profile(struct work *work, const struct input_file *file,
                                                 struct error *error) {
    return load(work, &profile_peaks_kind, file, error);
}

const struct memory_peaks *peak_store_of_device_memory(struct work *work, const struct input_file *file,
                                                       struct error *error) {
    return load(work, &device_memory_peaks_kind, file, error);
}

const struct memory_peaks *peak_store_known_of_profile(struct work *work, const struct input_file *file) {
    return known(work, &profile_peaks_kind, file);
}

const struct memory_peaks *peak_store_known_of_device_memory(struct work *work, const struct input_file *file) {
    return known(work, &device_memory_peaks_kind, file);
}
