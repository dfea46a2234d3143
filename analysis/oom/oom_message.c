#include "analysis/oom/oom_message.h"

#include <string.h>

struct oom_message oom_message_empty(enum oom_kind kind) {
    return (struct oom_message){
        .kind = kind,
        .needed_bytes = OOM_ABSENT,
        .capacity_bytes = OOM_ABSENT,
        .exceeded_bytes = OOM_ABSENT,
        .requested_bytes = OOM_ABSENT,
        .free_bytes = OOM_ABSENT,
        .reservable_bytes = OOM_ABSENT,
        .tensorcore_bytes = OOM_ABSENT,
        .sparsecore_bytes = OOM_ABSENT,
        .count = 1,
    };
}

const char *oom_kind_name(enum oom_kind kind) {
    static const char *const names[OOM_KIND_COUNT] = {
        [OOM_COMPILE] = "compile_oom",
        [OOM_TENSORCORE_SPARSECORE] = "tensorcore_sparsecore_oom",
        [OOM_ALLOCATION_EXCEEDS_MEMORY] = "allocation_exceeds_memory",
        [OOM_PROGRAM_LOAD] = "program_load",
        [OOM_RUNTIME_ALLOCATION] = "runtime_allocation",
        [OOM_GPU_ALLOCATION] = "gpu_allocation",
        [OOM_GPU_ALLOCATOR] = "gpu_allocator",
    };
    return names[kind];
}

int64_t oom_message_row(const struct oom_message *message, const char *name) {
    for (size_t i = 0; i < message->row_count; i++) {
        if (strcmp(message->rows[i].name, name) == 0) return message->rows[i].value;
    }
    return OOM_ABSENT;
}

void oom_message_add(struct oom_message *message, const char *name, int64_t value) {
    if (!name || message->row_count == OOM_ROWS_MAX || oom_message_row(message, name) != OOM_ABSENT) return;
    message->rows[message->row_count++] = (struct oom_row){name, value};
}

// --- The same message again ---

enum { FIGURES = 8, NAMES = 4 };

static void figures_of(struct oom_message *message, int64_t *figures[FIGURES]) {
    int64_t *const all[FIGURES] = {&message->needed_bytes,     &message->capacity_bytes,  &message->exceeded_bytes,
                                   &message->requested_bytes,  &message->free_bytes,      &message->reservable_bytes,
                                   &message->tensorcore_bytes, &message->sparsecore_bytes};
    memcpy(figures, all, sizeof all);
}

static void names_of(struct oom_message *message, const char **names[NAMES]) {
    const char **const all[NAMES] = {&message->memory_space, &message->module, &message->allocator,
                                     &message->requested_by};
    memcpy(names, all, sizeof all);
}

static bool differ(const char *a, const char *b) {
    return a && b && strcmp(a, b) != 0;
}

static bool rows_agree(const struct oom_message *a, const struct oom_message *b) {
    for (size_t i = 0; i < a->row_count; i++) {
        int64_t value = oom_message_row(b, a->rows[i].name);
        if (value != OOM_ABSENT && value != a->rows[i].value) return false;
    }
    return true;
}

static bool entries_agree(const struct oom_message *a, const struct oom_message *b) {
    for (size_t i = 0; i < a->entry_count && i < b->entry_count; i++) {
        if (a->entries[i].size_bytes != b->entries[i].size_bytes) return false;
        if (differ(a->entries[i].shape, b->entries[i].shape)) return false;
    }
    return true;
}

bool oom_message_is_same(const struct oom_message *a, const struct oom_message *b) {
    struct oom_message left = *a, right = *b;
    int64_t *x[FIGURES], *y[FIGURES];
    const char **names[NAMES], **others[NAMES];
    if (a->kind != b->kind) return false;
    figures_of(&left, x), figures_of(&right, y);
    names_of(&left, names), names_of(&right, others);
    for (int i = 0; i < FIGURES; i++) {
        bool has_x = *x[i] != OOM_ABSENT, has_y = *y[i] != OOM_ABSENT;
        if (has_x && has_y && *x[i] != *y[i]) return false;
    }
    for (int i = 0; i < NAMES; i++) {
        if (differ(*names[i], *others[i])) return false;
    }
    return rows_agree(a, b) && entries_agree(a, b);
}

void oom_message_merge(struct oom_message *message, const struct oom_message *other) {
    struct oom_message more = *other;
    int64_t *to[FIGURES], *from[FIGURES];
    const char **names[NAMES], **others[NAMES];
    figures_of(message, to), figures_of(&more, from);
    names_of(message, names), names_of(&more, others);
    for (int i = 0; i < FIGURES; i++) {
        if (*to[i] == OOM_ABSENT) *to[i] = *from[i];
    }
    for (int i = 0; i < NAMES; i++) {
        if (!*names[i]) *names[i] = *others[i];
    }
    if (!message->error_code) message->error_code = more.error_code;
    for (size_t i = 0; i < more.row_count; i++) oom_message_add(message, more.rows[i].name, more.rows[i].value);
    if (more.entry_count > message->entry_count) {
        message->entries = more.entries;
        message->entry_count = more.entry_count;
        message->entries_left_out = more.entries_left_out;
    }
    message->count += more.count;
}
