#include "analysis/oom/oom_evidence.h"

#include <stdlib.h>

static int largest_first(const void *left, const void *right) {
    const struct memory_buffer *a = *(const struct memory_buffer *const *)left;
    const struct memory_buffer *b = *(const struct memory_buffer *const *)right;
    if (a->size_bytes != b->size_bytes) return a->size_bytes > b->size_bytes ? -1 : 1;
    return (a > b) - (a < b);
}

static const struct memory_buffer **rows_by_size(const struct memory_view *view, struct arena *arena) {
    const struct memory_buffer **rows = arena_push(arena, view->at_peak_count + (size_t)1, sizeof *rows);
    for (uint32_t i = 0; rows && i < view->at_peak_count; i++) rows[i] = &view->rows[view->at_peak[i]];
    if (rows && view->at_peak_count) qsort(rows, view->at_peak_count, sizeof *rows, largest_first);
    return rows;
}

// --- One buffer ---

static bool is_argument(enum allocation_category category) {
    return category == ALLOCATION_PARAMETER || category == ALLOCATION_DONATED;
}

static struct oom_buffer describe(struct buffer_describer *describer, const struct memory_view *view,
                                  const struct memory_buffer *row, int64_t partitions) {
    struct oom_buffer buffer = {.size_bytes = row->size_bytes,
                                .unpadded_bytes = row->unpadded_bytes,
                                .logical_buffer_id = -1,
                                .category = row->category,
                                .words = buffer_describe(describer, row->buffer)};
    struct bytes file = buffer.words.source_file;
    if (row->buffer != HLO_NONE) buffer.logical_buffer_id = view->module->buffers[row->buffer].id;
    if (file.size && buffer.words.source_line)
        buffer.source = arena_printf(describer->arena, "%.*s:%d", (int)file.size, (const char *)file.data,
                                     buffer.words.source_line);
    if (is_argument(row->category) && row->allocation != HLO_NONE && partitions > 1)
        buffer.sharding = parameter_sharding_of(view->module,
                                                view->module->allocations[row->allocation].parameter_number);
    return buffer;
}

// --- What the peak is made of ---

static void add_row(struct oom_evidence *evidence, struct buffer_describer *describer,
                    const struct memory_buffer *row) {
    struct buffer_description words = buffer_describe(describer, row->buffer);
    bool is_backward = bytes_contains(words.op_name, BYTES("jvp(")) ||
                       bytes_contains(words.op_name, BYTES("transpose("));
    if (is_backward && row->category == ALLOCATION_TEMPORARY) evidence->backward_bytes += row->size_bytes;
    bool is_counted = is_argument(row->category) || row->category == ALLOCATION_TEMPORARY;
    if (is_counted && bytes_starts_with(words.shape, BYTES("f32["))) evidence->float32_bytes += row->size_bytes;
}

// Rows come sorted by size, so those of one size are neighbours.
static void find_repeated(struct oom_evidence *evidence, const struct memory_buffer *const *rows, uint32_t count) {
    int64_t size = -1, same = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i]->category != ALLOCATION_TEMPORARY) continue;
        same = rows[i]->size_bytes == size ? same + 1 : 1;
        size = rows[i]->size_bytes;
        if (same < 2 || size * same <= evidence->repeated_bytes) continue;
        evidence->repeated_bytes = size * same;
        evidence->repeated_size_bytes = size;
        evidence->repeated_count = same;
    }
}

bool oom_evidence_read(const struct hlo_module *module, int64_t space, struct arena *arena,
                       struct oom_evidence *evidence, struct error *error) {
    struct memory_view view;
    struct buffer_describer describer;
    if (!memory_view_build(module, space, MEMORY_VIEW_EXACT, arena, &view, error)) return false;
    *evidence = (struct oom_evidence){.totals = view.totals,
                                      .peak_bytes = view.peak_bytes,
                                      .padding_bytes = view.padding_bytes,
                                      .partitions = partition_count(module)};
    evidence->argument_bytes = view.totals.bytes[ALLOCATION_PARAMETER] + view.totals.bytes[ALLOCATION_DONATED];
    const struct memory_buffer **rows = rows_by_size(&view, arena);
    if (!rows || !buffer_describer_init(&describer, module, MEMORY_VIEW_EXACT, arena))
        return error_set(error, ERROR_TOO_BIG, "There is not enough memory for this module.");
    for (uint32_t i = 0; i < view.at_peak_count; i++) add_row(evidence, &describer, rows[i]);
    find_repeated(evidence, rows, view.at_peak_count);
    for (uint32_t i = 0; i < view.at_peak_count && i < OOM_LARGEST_MAX; i++)
        evidence->largest[evidence->largest_count++] = describe(&describer, &view, rows[i], evidence->partitions);
    return true;
}

int64_t oom_sharded_bytes(const struct oom_evidence *evidence, const struct oom_buffer *buffer) {
    return (buffer->size_bytes + evidence->partitions - 1) / evidence->partitions;
}

const struct oom_buffer *oom_replicated_argument(const struct oom_evidence *evidence) {
    const struct oom_buffer *first = evidence->largest;
    return evidence->largest_count && first->sharding == SHARDING_REPLICATED ? first : NULL;
}
