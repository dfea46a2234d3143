#include "analysis/groups/live_rows.h"

static void add(uint32_t row, int64_t size_bytes, struct live_rows *live) {
    live->rows[live->count++] = (struct live_row){row, size_bytes};
    live->unexplained_bytes -= size_bytes;  // in sum at most the curve, which does not overflow
}

bool live_rows_at(const struct memory_view *view, uint32_t step, struct arena *arena, struct live_rows *live) {
    const struct heap_replay *replay = &view->replay;
    *live = (struct live_rows){.live_bytes = view->indefinite_bytes};
    if (view->has_simulation) live->live_bytes += replay->heap_bytes[step + 1];
    live->unexplained_bytes = live->live_bytes;
    live->rows = arena_push_raw(arena, (size_t)view->indefinite_row_count + replay->stay_count, sizeof *live->rows);
    if (!live->rows) return false;
    for (uint32_t i = 0; i < view->indefinite_row_count; i++) add(i, view->rows[i].size_bytes, live);
    for (uint32_t i = 0; i < replay->stay_count && replay->stays[i].start_step <= step; i++) {
        const struct heap_stay *stay = &replay->stays[i];
        if (stay->end_step > step)
            add(view->indefinite_row_count + stay->span, view->module->buffers[stay->root].size_bytes, live);
    }
    return true;
}
