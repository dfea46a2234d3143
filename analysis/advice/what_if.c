#include "analysis/advice/what_if.h"

#include "analysis/advice/lodging.h"
#include "analysis/advice/short_memory.h"
#include "analysis/advice/unsqueezed.h"
#include "analysis/memory/allocation_category.h"
#include "analysis/memory/memory_totals.h"
#include "analysis/memory/trace_choice.h"

enum { HBM = 0 };

#define AS_SHORT 0.97  // of the total that the program would have without residents, where no limit is known

static bool is_counted(const struct hlo_allocation *a) {
    return a->color == HBM && !a->is_thread_local;
}

static bool is_temporary(const struct hlo_allocation *a) {
    return allocation_category_of(a) == ALLOCATION_TEMPORARY;
}

static bool sum_allocations(struct what_if *what_if, struct error *error) {
    for (uint32_t i = 0; i < what_if->module->allocation_count; i++) {
        const struct hlo_allocation *a = &what_if->module->allocations[i];
        if (!is_counted(a)) continue;
        int64_t *sum = is_temporary(a) ? &what_if->temporary_bytes : &what_if->indefinite_bytes;
        if (__builtin_add_overflow(*sum, a->size_bytes, sum) || *sum > INT64_MAX / 4)
            return error_set(error, ERROR_MALFORMED, "the allocations of HBM hold more than 2^61 bytes");
    }
    what_if->total_bytes = what_if->temporary_bytes + what_if->indefinite_bytes;
    return true;
}

static bool replay_as_is(struct what_if *what_if, struct program_graph *graph, struct arena *arena,
                         struct error *error) {
    struct schedule schedule;
    struct heap_replay replay;
    if (!heap_replay_run(what_if->module, what_if->events, NULL, arena, &replay, error)) return false;
    what_if->heap_peak_bytes = replay.peak_bytes;
    what_if->residents = (struct residents){
        .module = *what_if->module, .events = what_if->events, .first_guest = what_if->module->buffer_count};
    what_if->replay = replay;
    if (!schedule_read(graph, arena, &schedule) ||
        !residents_find(what_if->module, graph, &schedule, what_if->events, arena, &what_if->residents))
        return error_set(error, ERROR_TOO_BIG, "no memory left to follow the program's schedule");
    const struct residents *residents = &what_if->residents;
    what_if->has_lodgers = !what_if->is_for_tpu && residents->host_count;
    if (!what_if->is_for_tpu) return true;
    return heap_replay_run(&residents->module, residents->events, NULL, arena, &what_if->replay, error);
}

struct lodged {
    int64_t visits;  // how much work lodging_assign was
    int64_t bytes;   // of the peak, what outputs took
};

// The temporaries of `sizes` on heap and in outputs: a replay of all, a second of those that no output takes.
static bool replay_lodged(const struct what_if *what_if, const int64_t *sizes, struct hlo_module *changed,
                          struct arena *scratch, struct heap_replay *replay, struct lodged *lodged,
                          struct error *error) {
    const struct residents *residents = &what_if->residents;
    if (!heap_replay_run(changed, residents->events, NULL, scratch, replay, error)) return false;
    lodged->bytes = replay->peak_bytes;
    if (!lodging_assign(residents, replay, sizes, changed, &lodged->visits, scratch))
        return error_set(error, ERROR_TOO_BIG, "no memory left to place temporaries in outputs");
    if (!heap_replay_run(changed, residents->events, NULL, scratch, replay, error)) return false;
    lodged->bytes -= replay->peak_bytes;
    return true;
}

// What outputs of `sizes` have left where `lodged` of them are taken.
static int64_t room_in_outputs(const struct what_if *what_if, const int64_t *sizes, int64_t lodged) {
    const struct residents *residents = &what_if->residents;
    double room = -(double)lodged;
    for (uint32_t h = 0; h < residents->host_count; h++)
        room += (double)lodging_host_bytes(residents, &residents->hosts[h], sizes);
    return room > 0 ? what_if_bytes(room) : 0;
}

// Where no replay tells what lies in outputs, what does today stays there.
static int64_t room_beside_guests(const struct what_if *what_if, const int64_t *sizes) {
    const struct residents *residents = &what_if->residents;
    double taken = 0;
    for (uint32_t i = residents->first_guest; i < residents->module.buffer_count; i++) taken += (double)sizes[i];
    return what_if->is_for_tpu ? 0 : room_in_outputs(what_if, sizes, what_if_bytes(taken));
}

// The module with its guests, as it is, to be changed. NULL: no memory.
static struct hlo_buffer *copy_buffers(const struct what_if *what_if, struct arena *scratch) {
    const struct hlo_module *module = &what_if->residents.module;
    struct hlo_buffer *buffers = arena_push_raw(scratch, module->buffer_count, sizeof *buffers);
    for (uint32_t i = 0; i < module->buffer_count && buffers; i++) buffers[i] = module->buffers[i];
    return buffers;
}

// Does lodging.h tell of the program as it is about what the compiler did? What it tells is scaled by the ratio of the
// two, so it may not be next to nothing.
static bool is_lodged_alike(const struct what_if *what_if) {
    enum { ALIKE_DIVISOR = 10 };
    int64_t apart = what_if->lodging_bytes - what_if->temporary_bytes;
    return what_if->lodging_bytes > 0 && what_if->lodging_bytes >= what_if->temporary_bytes / 2 &&
           (apart < 0 ? -apart : apart) <= what_if->total_bytes / ALIKE_DIVISOR;
}

static bool lodge_as_is(struct what_if *what_if, struct arena *scratch, struct error *error) {
    struct hlo_module module = what_if->residents.module;
    struct heap_replay replay;
    struct lodged lodged;
    int64_t *sizes = arena_push_raw(scratch, module.buffer_count, sizeof *sizes);
    module.buffers = copy_buffers(what_if, scratch);
    if (!sizes || !module.buffers) return error_set(error, ERROR_TOO_BIG, "no memory left to replay the program");
    for (uint32_t i = 0; i < module.buffer_count; i++) sizes[i] = module.buffers[i].size_bytes;
    if (!replay_lodged(what_if, sizes, &module, scratch, &replay, &lodged, error)) return false;
    what_if->lodging_visits = lodged.visits;
    return temporaries_predict(&what_if->temporaries, &module, &replay, scratch, &what_if->lodging_bytes, error);
}

static bool pack_as_is(struct what_if *what_if, struct arena *arena, struct error *error) {
    struct arena scratch;
    struct heap_replay replay, roomy_replay;
    const struct residents *residents = &what_if->residents;
    int64_t roomy;
    arena_init(&scratch, arena->limit_bytes);
    bool is_good = heap_replay_run(what_if->module, what_if->events, NULL, &scratch, &replay, error) &&
                   heap_replay_run(&residents->module, residents->events, NULL, &scratch, &roomy_replay, error) &&
                   temporaries_init(&what_if->temporaries, what_if->module, what_if->events, &replay, arena, error) &&
                   temporaries_predict(&what_if->temporaries, &residents->module, &roomy_replay, &scratch, &roomy,
                                       error) &&
                   (!what_if->has_lodgers || lodge_as_is(what_if, &scratch, error));
    arena_free(&scratch);
    if (!is_good) return false;
    what_if->has_lodgers = what_if->has_lodgers && is_lodged_alike(what_if);
    what_if->roomy_total_bytes = what_if->residents.guest_count
                                     ? what_if_bytes((double)what_if->indefinite_bytes + (double)roomy)
                                     : what_if->total_bytes;
    return true;
}

static bool does_replay(const struct what_if *what_if, struct heap_events events, size_t limit_bytes) {
    struct arena scratch;
    struct heap_replay replay;
    struct error ignored;
    arena_init(&scratch, limit_bytes);
    bool does = heap_replay_run(&what_if->residents.module, events, NULL, &scratch, &replay, &ignored);
    arena_free(&scratch);
    return does;
}

// A trace that does not replay so is read more narrowly, or left as it is.
static bool unsqueeze(const struct what_if *what_if, struct heap_events events, struct arena *arena,
                      struct heap_events *result) {
    for (int are_of_parts = 1; are_of_parts >= 0; are_of_parts--) {
        if (!unsqueezed_events(&what_if->residents.module, events, are_of_parts, arena, result)) return false;
        if (result->events == events.events || does_replay(what_if, *result, arena->limit_bytes)) return true;
    }
    *result = events;
    return true;
}

// What a TPU that is short of memory did, and from how much on it does.
static bool find_shortage(struct what_if *what_if, struct arena *arena) {
    struct heap_events events = what_if->events, roomy = what_if->residents.events;
    what_if->unsqueezed_events = events;
    what_if->unsqueezed_roomy_events = roomy;
    if (!what_if->is_for_tpu) return true;
    if (!unsqueeze(what_if, events, arena, &what_if->unsqueezed_events) ||
        !unsqueeze(what_if, roomy, arena, &what_if->unsqueezed_roomy_events))
        return false;
    bool is_squeezed = what_if->unsqueezed_roomy_events.events != roomy.events;
    if (what_if->residents.guest_count)
        what_if->short_bytes = short_memory_bytes(what_if->roomy_total_bytes, is_squeezed ? what_if->total_bytes : 0);
    if (short_memory_is_filled(what_if->total_bytes)) return true;
    what_if->unsqueezed_events = events;
    what_if->unsqueezed_roomy_events = roomy;
    return true;
}

bool what_if_init(struct what_if *what_if, const struct hlo_module *module, const struct target *target,
                  struct program_graph *graph, struct arena *arena, struct error *error) {
    *what_if = (struct what_if){.module = module, .is_for_tpu = target->is_tpu, .fast_bytes = target->fast_bytes};
    if (!sum_allocations(what_if, error)) return false;
    if (!trace_choose_exact(module, HBM, arena, &what_if->events, error) ||
        !replay_as_is(what_if, graph, arena, error) || !pack_as_is(what_if, arena, error))
        return false;
    if (!find_shortage(what_if, arena))
        return error_set(error, ERROR_TOO_BIG, "no memory left to follow what the compiler rematerialized");
    what_if->peak_bytes = what_if->indefinite_bytes + what_if->heap_peak_bytes;
    return true;
}

static int64_t scaled(int64_t bytes, int64_t part, int64_t whole) {
    return whole > 0 && part != whole ? what_if_bytes((double)bytes * ((double)part / (double)whole)) : bytes;
}

int64_t what_if_resized(const struct hlo_module *module, const struct hlo_allocation *a, const int64_t *sizes) {
    int64_t before = 0, after = 0;
    for (uint32_t i = 0; i < a->assigned_count; i++) {
        uint32_t buffer = module->assigned[a->first_assigned + i].buffer;
        if (buffer == HLO_NONE) continue;
        if (module->buffers[buffer].size_bytes > before) before = module->buffers[buffer].size_bytes;
        if (sizes[buffer] > after) after = sizes[buffer];
    }
    return scaled(a->size_bytes, after, before);
}

static int64_t sum_resized(const struct hlo_module *module, const struct hlo_allocation *a, const int64_t *sizes) {
    double before = 0, after = 0;
    for (uint32_t i = 0; i < a->assigned_count; i++) {
        uint32_t buffer = module->assigned[a->first_assigned + i].buffer;
        if (buffer == HLO_NONE) continue;
        before += (double)module->buffers[buffer].size_bytes;
        after += (double)sizes[buffer];
    }
    return before > 0 ? what_if_bytes((double)a->size_bytes * (after / before)) : a->size_bytes;
}

static bool has_lodgers_then(const struct what_if *what_if, const struct what_if_change *change) {
    return what_if->has_lodgers && !change->has_room;
}

static bool replay_changed(const struct what_if *what_if, struct heap_events events,
                           const struct what_if_change *change, struct arena *scratch, struct what_if_result *result,
                           struct error *error) {
    struct hlo_module changed = what_if->residents.module;
    struct heap_replay replay;
    struct lodged lodged = {0};
    bool is_lodged = has_lodgers_then(what_if, change);
    changed.buffers = copy_buffers(what_if, scratch);
    if (!changed.buffers) return error_set(error, ERROR_TOO_BIG, "no memory left to replay a change");
    for (uint32_t i = 0; i < changed.buffer_count; i++) changed.buffers[i].size_bytes = change->sizes[i];
    if (is_lodged ? !replay_lodged(what_if, change->sizes, &changed, scratch, &replay, &lodged, error)
                  : !heap_replay_run(&changed, events, NULL, scratch, &replay, error))
        return false;
    result->lodging_visits = lodged.visits;
    result->room_bytes = is_lodged ? room_in_outputs(what_if, change->sizes, lodged.bytes)
                                   : room_beside_guests(what_if, change->sizes);
    result->empty_bytes = what_if->is_for_tpu ? 0 : room_in_outputs(what_if, change->sizes, 0);
    result->small_bytes = 0;
    for (uint32_t i = 0; i < replay.live_at_peak_count; i++) {
        int64_t size = change->sizes[replay.live_at_peak[i]];
        if (size > 0 && size <= what_if->fast_bytes / 2) result->small_bytes += size;
    }
    if (!temporaries_predict(&what_if->temporaries, &changed, &replay, scratch, &result->temporary_bytes, error))
        return false;
    if (is_lodged)
        result->temporary_bytes = scaled(what_if->temporary_bytes, result->temporary_bytes, what_if->lodging_bytes);
    result->total_bytes = what_if_bytes((double)result->indefinite_bytes + (double)result->temporary_bytes);
    result->peak_bytes = what_if_bytes((double)result->indefinite_bytes + (double)replay.peak_bytes);
    return true;
}

// Allocations of outputs have the size of their owners, or of the largest that lies in them.
static void sum_changed(const struct what_if *what_if, const struct what_if_change *change, bool is_by_owner,
                        struct what_if_result *result) {
    const struct hlo_module *module = what_if->module;
    *result = (struct what_if_result){.sizes = change->sizes};
    for (uint32_t i = 0; i < module->allocation_count; i++) {
        const struct hlo_allocation *a = &module->allocations[i];
        if (!is_counted(a) || (change->is_gone && change->is_gone[i])) continue;
        int64_t *sum = is_temporary(a) ? &result->temporary_bytes : &result->indefinite_bytes;
        int64_t bytes = is_temporary(a) ? sum_resized(module, a, change->sizes)
                                        : what_if_resized(module, a, change->sizes);
        *sum = what_if_bytes((double)*sum + (double)bytes);
    }
    const struct residents *residents = &what_if->residents;
    for (uint32_t h = 0; h < residents->host_count && is_by_owner; h++) {
        const struct hlo_allocation *a = &module->allocations[residents->hosts[h].allocation];
        if (change->is_gone && change->is_gone[residents->hosts[h].allocation]) continue;
        int64_t more = lodging_host_bytes(residents, &residents->hosts[h], change->sizes) -
                       what_if_resized(module, a, change->sizes);
        result->indefinite_bytes = what_if_bytes((double)result->indefinite_bytes + (double)more);
    }
}

// As short of memory as it is today: the residents stay where they are.
static bool is_as_short(const struct what_if *what_if, const struct what_if_result *result) {
    if (!what_if->is_for_tpu) return !what_if->has_lodgers;  // then nothing better is known
    if (!what_if->residents.guest_count) return false;
    if (what_if->short_bytes) return result->total_bytes > what_if->short_bytes;
    return (double)result->total_bytes > AS_SHORT * (double)what_if->roomy_total_bytes;
}

// `result` has what the change leaves were nothing rematerialized. That is too much, as the compiler then has another
// order, and with what it rematerializes today too little: it takes about the middle, and no more than today's total.
static bool squeeze(const struct what_if *what_if, struct heap_events events, const struct what_if_change *change,
                    struct arena *scratch, struct what_if_result *result, struct error *error) {
    int64_t unsqueezed = result->total_bytes;
    if (!replay_changed(what_if, events, change, scratch, result, error)) return false;
    int64_t all = unsqueezed > result->total_bytes ? unsqueezed - result->total_bytes : 0, more = all / 2;
    int64_t most = what_if->total_bytes > result->total_bytes ? what_if->total_bytes - result->total_bytes : 0;
    if (more > most) more = most;
    result->back_bytes = more;
    result->out_bytes = all - more;
    what_if_add_temporary(result, more);
    return true;
}

static bool run(const struct what_if *what_if, const struct what_if_change *change, struct arena *scratch,
                struct what_if_result *result, struct error *error) {
    struct heap_events events = what_if->residents.events, unsqueezed = what_if->unsqueezed_roomy_events;
    bool are_outside = what_if->has_lodgers || (what_if->is_for_tpu && what_if->residents.guest_count);
    sum_changed(what_if, change, are_outside, result);
    result->total_bytes = result->peak_bytes = result->indefinite_bytes + result->temporary_bytes;
    if (what_if->replay.peak_bytes <= 0) return true;
    if (!replay_changed(what_if, unsqueezed, change, scratch, result, error)) return false;
    if (!change->has_room && is_as_short(what_if, result)) {
        events = what_if->events;
        unsqueezed = what_if->unsqueezed_events;
        sum_changed(what_if, change, what_if->has_lodgers, result);
        if (!replay_changed(what_if, unsqueezed, change, scratch, result, error)) return false;
    }
    return unsqueezed.events == events.events || squeeze(what_if, events, change, scratch, result, error);
}

bool what_if_run(const struct what_if *what_if, const struct what_if_change *change, struct arena *scratch,
                 struct what_if_result *result, struct error *error) {
    if (!run(what_if, change, scratch, result, error)) return false;
    result->replayed_total_bytes = result->total_bytes;
    result->replayed_indefinite_bytes = result->indefinite_bytes;
    return true;
}
