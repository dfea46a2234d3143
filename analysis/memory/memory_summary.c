#include "analysis/memory/memory_summary.h"

#include "analysis/memory/heap_replay.h"
#include "analysis/memory/trace_choice.h"

static bool find_peak(const struct hlo_module *module, int64_t space, struct arena *scratch, int64_t *peak_bytes,
                      struct error *error) {
    struct heap_events events;
    struct heap_replay replay;
    *peak_bytes = 0;
    if (!trace_choose_exact(module, space, scratch, &events, error)) return false;
    if (!events.count) return true;
    if (!heap_replay_run(module, events, NULL, scratch, &replay, error)) return false;
    *peak_bytes = replay.peak_bytes;
    return true;
}

static bool summarize(const struct hlo_module *module, const struct memory_totals *totals, size_t scratch_limit_bytes,
                      struct memory_summary *summary, struct error *error) {
    struct arena scratch;
    arena_init(&scratch, scratch_limit_bytes);
    *summary = (struct memory_summary){
        .space = totals->space,
        .total_bytes = totals->total_bytes,
        .thread_local_bytes = totals->bytes[ALLOCATION_THREAD_LOCAL],
    };
    bool good = find_peak(module, totals->space, &scratch, &summary->peak_bytes, error);
    arena_free(&scratch);
    if (good && __builtin_add_overflow(summary->peak_bytes, totals->indefinite_bytes, &summary->peak_bytes)) {
        return error_set(error, ERROR_MALFORMED, "more than 2^63 bytes at the peak");
    }
    return good;
}

bool memory_summaries(const struct hlo_module *module, struct arena *arena, struct memory_summary_list *list,
                      struct error *error) {
    struct memory_totals_list totals;
    *list = (struct memory_summary_list){0};
    if (!memory_totals_list(module, arena, &totals, error)) return false;
    list->summaries = arena_new(arena, struct memory_summary, totals.space_count);
    if (!list->summaries) return error_set(error, ERROR_TOO_BIG, "no memory left for the summaries");
    for (size_t i = 0; i < totals.space_count; i++) {
        if (totals.spaces[i].total_bytes == 0 && totals.spaces[i].bytes[ALLOCATION_THREAD_LOCAL] == 0) continue;
        struct error fault;
        if (summarize(module, &totals.spaces[i], arena->limit_bytes, &list->summaries[list->count], &fault)) {
            list->count++;
        } else if (list->fault.code == ERROR_NONE) {
            list->fault = fault;
        }
    }
    if (list->count || list->fault.code == ERROR_NONE) return true;
    *error = list->fault;
    return false;
}
