// Any bytes as an HloProto: its memory spaces, compared with each other and with themselves, end in a result or an
// error, and a result adds up.
//
//     make fuzz T=compare
#include <assert.h>

#include "analysis/compare/memory_diff.h"
#include "analysis/groups/frameworks.h"
#include "analysis/hlo/hlo_load.h"

enum { ARENA_LIMIT_BYTES = 64 << 20, SPACES_LOOKED_AT = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const struct error *error) {
    assert(error->code != ERROR_NONE && error->message[0]);
}

static void check_groups(const struct memory_diff *diff) {
    const struct group_deltas *groups = &diff->groups;
    int64_t a = groups->unchanged_bytes, b = groups->unchanged_bytes;
    for (uint32_t i = 0; i < groups->row_count; i++) {
        const struct group_delta *row = &groups->rows[i];
        assert(row->delta_bytes != 0 && row->delta_bytes == row->b_bytes - row->a_bytes);
        assert(row->a_bytes >= 0 && row->b_bytes >= 0);
        a += row->a_bytes;
        b += row->b_bytes;
    }
    assert(a == diff->a.view->peak_bytes && b == diff->b.view->peak_bytes);
}

static void check_buffers(const struct memory_diff *diff) {
    const struct buffer_changes *changes = &diff->buffers;
    int64_t sum = 0;
    for (uint32_t i = 0; i < changes->row_count; i++) {
        const struct buffer_change *row = &changes->rows[i];
        assert(row->a == UNPAIRED || row->a < changes->a.count);
        assert(row->b == UNPAIRED || row->b < changes->b.count);
        assert(row->a != UNPAIRED || row->b != UNPAIRED);
        sum += row->delta_bytes;
    }
    assert(sum == diff->peak_delta_bytes);
}

static void compare(const struct compared_side *a, const struct compared_side *b, struct arena *arena) {
    struct memory_diff diff;
    struct error error = {0};
    for (int by = 0; by < GROUP_BY_COUNT; by++) {
        if (!memory_diff_make(a, b, (enum memory_group_by)by, arena, &diff, &error)) {
            check_error(&error);
            return;
        }
        check_groups(&diff);
        check_buffers(&diff);
        if (a->view == b->view) assert(diff.groups.row_count == 0 && diff.buffers.row_count == 0);
    }
}

static void look_at(const struct hlo_module *module, const struct memory_totals_list *spaces, struct arena *arena) {
    struct memory_view views[SPACES_LOOKED_AT];
    struct compared_side sides[SPACES_LOOKED_AT];
    struct buffer_sources sources;
    struct error error = {0};
    size_t count = 0;
    if (!buffer_sources_read(module, FRAMEWORKS_DEFAULT, arena, &sources, &error)) {
        check_error(&error);
        return;
    }
    for (size_t i = 0; i < spaces->space_count && count < SPACES_LOOKED_AT; i++) {
        if (!memory_view_build(module, spaces->spaces[i].space, MEMORY_VIEW_EXACT, arena, &views[count], &error))
            continue;
        sides[count] = (struct compared_side){&views[count], &sources};
        count++;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) compare(&sides[i], &sides[j], arena);
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
