#include "analysis/compare/line_names.h"

#include <stdlib.h>

static int by_name(const void *left, const void *right) {
    const struct line_name *a = left, *b = right;
    int order = bytes_compare(a->key, b->key);
    return order ? order : bytes_compare(a->op_name, b->op_name);
}

static void keep_each_once(struct line_names *names) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < names->count; i++) {
        if (!kept || by_name(&names->list[kept - 1], &names->list[i]) != 0) names->list[kept++] = names->list[i];
    }
    names->count = kept;
}

bool line_names_read(const struct buffer_sources *sources, const struct memory_grouping *grouping, struct arena *arena,
                     struct line_names *names) {
    const struct memory_view *view = grouping->view;
    *names = (struct line_names){.arena = arena};
    names->list = arena_push_raw(arena, view->row_count, sizeof *names->list);
    if (!names->list) return false;
    for (uint32_t i = 0; i < view->row_count; i++) {
        uint32_t buffer = view->rows[i].buffer;
        uint32_t node = buffer == HLO_NONE ? HLO_NONE : view->module->buffers[buffer].instruction;
        struct bytes op_name = node == HLO_NONE ? (struct bytes){0} : sources->graph.nodes[node].op_name;
        if (op_name.size)
            names->list[names->count++] = (struct line_name){grouping->keys.texts[grouping->key_of_row[i]], op_name};
    }
    if (names->count) qsort(names->list, names->count, sizeof *names->list, by_name);
    keep_each_once(names);
    return true;
}

// The first name of a line.
static uint32_t first_of(const struct line_names *names, struct bytes key) {
    uint32_t low = 0, high = names->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (bytes_compare(names->list[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_in(const struct line_names *names, uint32_t at, struct bytes key) {
    return at < names->count && bytes_equal(names->list[at].key, key);
}

uint32_t line_names_shared(const struct line_names *names, struct bytes key, const struct line_names *others,
                           struct bytes other_key) {
    uint32_t count = 0, i = first_of(names, key), j = first_of(others, other_key);
    while (is_in(names, i, key) && is_in(others, j, other_key)) {
        int order = bytes_compare(names->list[i].op_name, others->list[j].op_name);
        count += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    return count;
}
