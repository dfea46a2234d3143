// Any bytes as an HloProto: who holds its memory at any step ends in a result or an error, and a result adds up.
//
//     make fuzz T=groups
#include <assert.h>

#include "analysis/groups/frameworks.h"
#include "analysis/groups/group_steps.h"
#include "analysis/hlo/hlo_load.h"

enum { ARENA_LIMIT_BYTES = 64 << 20, SPACES_LOOKED_AT = 4, STEPS_LOOKED_AT = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const struct error *error) {
    assert(error->code != ERROR_NONE && error->message[0]);
}

static void check_groups(const struct memory_grouping *grouping, const struct memory_groups *groups) {
    const struct memory_view *view = grouping->view;
    int64_t sum = 0, live = view->indefinite_bytes;
    if (view->has_simulation) live += view->replay.heap_bytes[groups->step + 1];
    for (uint32_t i = 0; i < groups->row_count; i++) {
        const struct memory_group *row = &groups->rows[i];
        assert(row->key.size > 0 && row->size_bytes >= 0);
        assert(row->padding_bytes >= 0 && row->padding_bytes <= row->size_bytes);
        for (uint32_t m = 0; m < row->buffers; m++) assert(groups->members[row->first_member + m] < view->row_count);
        sum += row->size_bytes;
    }
    assert(sum == live && groups->live_bytes == live && groups->unknown_bytes <= live);
}

static void look_at_steps(const struct memory_view *view, const struct buffer_sources *sources, int by,
                          struct arena *arena) {
    struct memory_grouping grouping;
    struct memory_groups groups;
    struct error error = {0};
    if (!memory_grouping_make(view, sources, (enum memory_group_by)by, arena, &grouping, &error)) {
        check_error(&error);
        return;
    }
    struct group_steps steps;
    struct group_facts *facts;
    if (!group_steps_make(&grouping, sources, arena, &steps, &error)) {
        check_error(&error);
        return;
    }
    uint32_t last = memory_groups_last_step(view), stride = last / STEPS_LOOKED_AT + 1;
    for (uint64_t step = 0; step <= last; step += stride) {
        if (memory_groups_at(&grouping, (uint32_t)step, arena, &groups, &error))
            check_groups(&grouping, &groups);
        else
            check_error(&error);
        if (group_steps_at(&steps, (uint32_t)step, GROUP_WEIGHT_SIZE, arena, &groups, &facts, &error))
            check_groups(&grouping, &groups);
        else
            check_error(&error);
    }
}

static void check_origins(const struct leaf_origins *origins, const struct program_graph *graph) {
    for (uint32_t i = 0; i < graph->leaf_count; i++) {
        assert((origins->of_leaf[i].way == ORIGIN_NONE) == (origins->of_leaf[i].node == HLO_NONE));
        assert(origins->of_leaf[i].way == ORIGIN_NONE || origins->of_leaf[i].node < graph->node_count);
    }
}

static void look_at(const struct hlo_module *module, const struct memory_totals_list *spaces, struct arena *arena) {
    struct buffer_sources sources;
    struct error error = {0};
    if (!buffer_sources_read(module, FRAMEWORKS_DEFAULT, arena, &sources, &error)) {
        check_error(&error);
        return;
    }
    check_origins(&sources.lines, &sources.graph);
    check_origins(&sources.names, &sources.graph);
    for (size_t i = 0; i < spaces->space_count && i < SPACES_LOOKED_AT; i++) {
        struct memory_view view;
        if (!memory_view_build(module, spaces->spaces[i].space, MEMORY_VIEW_EXACT, arena, &view, &error)) continue;
        for (int by = 0; by < GROUP_BY_COUNT; by++) look_at_steps(&view, &sources, by, arena);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct hlo_module module;
    struct memory_totals_list spaces;
    struct error error = {0};
    arena_init(&arena, ARENA_LIMIT_BYTES);
    if (hlo_module_load((struct bytes){data, size}, &arena, &module, &error) &&
        memory_totals_list(&module, &arena, &spaces, &error))
        look_at(&module, &spaces, &arena);
    arena_free(&arena);
    return 0;
}
