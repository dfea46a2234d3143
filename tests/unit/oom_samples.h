// The messages of tests/fixtures/oom_messages, and what a cut or noisy copy of one may say.
//
// Four are libtpu's own words (v5e_*), one is XLA:GPU's on an H200 (h200_*); the others have the shapes that XLA, the
// TPU runtime and the BFC allocator write, with figures of our own.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/oom/oom_log.h"
#include "tests/unit/cmocka_all.h"

enum { SAMPLE_BYTES_MAX = 1 << 14, SAMPLE_COUNT = 15 };

static const char *const sample_names[SAMPLE_COUNT] = {
    "gpu_allocator",          "gpu_out_of_memory",    "tpu_allocation_exceeds",
    "tpu_hbm_used",           "tpu_program_load_big", "tpu_program_load_fragmented",
    "tpu_runtime_allocation", "tpu_smem_used",        "tpu_tensorcore_sparsecore",
    "tpu_vmem_scoped",        "v5e_arguments_oom",    "v5e_gpt_12layer_oom",
    "v5e_readme_oom",         "v5e_replicated_oom",   "h200_step_oom",
};

// The bytes of a sample, on `arena`.
static inline struct bytes sample_read(const char *name, struct arena *arena) {
    char path[256];
    snprintf(path, sizeof path, "tests/fixtures/oom_messages/%s.txt", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t *data = arena_push(arena, SAMPLE_BYTES_MAX, 1);
    size_t size = fread(data, 1, SAMPLE_BYTES_MAX, file);
    fclose(file);
    assert_in_range(size, 1, SAMPLE_BYTES_MAX - 1);
    return (struct bytes){data, size};
}

static inline struct oom_log log_read(struct bytes log, struct arena *arena) {
    struct oom_log found;
    struct error error;
    assert_true(oom_log_read(log, arena, &found, &error));
    return found;
}

static inline struct oom_message sample_message(const char *name, struct arena *arena) {
    struct oom_log found = log_read(sample_read(name, arena), arena);
    assert_int_equal(found.message_count, 1);
    return found.messages[0];
}

// --- Whether `part` says nothing that `whole` does not ---

static inline bool figure_is_part(int64_t part, int64_t whole) {
    return part == OOM_ABSENT || part == whole;
}

static inline bool words_are_part(const char *part, const char *whole) {
    return !part || (whole && strcmp(part, whole) == 0);
}

static inline bool entry_is_part(const struct oom_entry *part, const struct oom_entry *whole) {
    return part->size_bytes == whole->size_bytes && figure_is_part(part->unpadded_bytes, whole->unpadded_bytes) &&
           figure_is_part(part->padding_bytes, whole->padding_bytes) && words_are_part(part->op_name, whole->op_name) &&
           words_are_part(part->source, whole->source) && words_are_part(part->shape, whole->shape) &&
           words_are_part(part->label, whole->label) && words_are_part(part->allocation_type, whole->allocation_type);
}

static inline bool figures_are_part(const struct oom_message *part, const struct oom_message *whole) {
    return figure_is_part(part->needed_bytes, whole->needed_bytes) &&
           figure_is_part(part->capacity_bytes, whole->capacity_bytes) &&
           figure_is_part(part->exceeded_bytes, whole->exceeded_bytes) &&
           figure_is_part(part->free_bytes, whole->free_bytes) &&
           figure_is_part(part->reservable_bytes, whole->reservable_bytes) &&
           figure_is_part(part->tensorcore_bytes, whole->tensorcore_bytes) &&
           figure_is_part(part->sparsecore_bytes, whole->sparsecore_bytes);
}

// The rounded figure before "(rounded to BYTES)" stands for the exact one where that was cut off.
static inline bool request_is_part(int64_t part, int64_t whole) {
    return figure_is_part(part, whole) || llabs(part - whole) <= whole / 100;
}

static inline bool message_is_part(const struct oom_message *part, const struct oom_message *whole) {
    bool is_part = part->kind == whole->kind && figures_are_part(part, whole) &&
                   request_is_part(part->requested_bytes, whole->requested_bytes) &&
                   words_are_part(part->module, whole->module) && words_are_part(part->allocator, whole->allocator) &&
                   words_are_part(part->requested_by, whole->requested_by) &&
                   words_are_part(part->memory_space, whole->memory_space) && part->entry_count <= whole->entry_count;
    for (size_t i = 0; is_part && i < part->row_count; i++)
        is_part = part->rows[i].value == oom_message_row(whole, part->rows[i].name);
    for (size_t i = 0; is_part && i < part->entry_count; i++)
        is_part = entry_is_part(&part->entries[i], &whole->entries[i]);
    return is_part;
}

static inline bool message_is_same(const struct oom_message *a, const struct oom_message *b) {
    return message_is_part(a, b) && message_is_part(b, a) && a->requested_bytes == b->requested_bytes;
}
