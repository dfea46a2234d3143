#include "analysis/oom/oom_message.h"

#include <string.h>

// Every figure and name that a message may say, OOM_ABSENT or NULL where it does not.
static const size_t figures[] = {
    offsetof(struct oom_message, needed_bytes),     offsetof(struct oom_message, capacity_bytes),
    offsetof(struct oom_message, exceeded_bytes),   offsetof(struct oom_message, requested_bytes),
    offsetof(struct oom_message, free_bytes),       offsetof(struct oom_message, reservable_bytes),
    offsetof(struct oom_message, tensorcore_bytes), offsetof(struct oom_message, sparsecore_bytes),
    offsetof(struct oom_message, printed_bytes),
};
static const size_t names[] = {offsetof(struct oom_message, memory_space), offsetof(struct oom_message, module),
                               offsetof(struct oom_message, allocator), offsetof(struct oom_message, requested_by)};
enum { FIGURES = sizeof figures / sizeof *figures, NAMES = sizeof names / sizeof *names };

static int64_t figure(const struct oom_message *message, size_t i) {
    return *(const int64_t *)((const char *)message + figures[i]);
}

static void set_figure(struct oom_message *message, size_t i, int64_t value) {
    *(int64_t *)((char *)message + figures[i]) = value;
}

static const char *name(const struct oom_message *message, size_t i) {
    return *(const char *const *)((const char *)message + names[i]);
}

struct oom_message oom_message_empty(enum oom_kind kind) {
    struct oom_message message = {.kind = kind, .count = 1};
    for (size_t i = 0; i < FIGURES; i++) set_figure(&message, i, OOM_ABSENT);
    return message;
}

const char *oom_kind_name(enum oom_kind kind) {
    static const char *const kinds[OOM_KIND_COUNT] = {
        [OOM_COMPILE] = "compile_oom",
        [OOM_TENSORCORE_SPARSECORE] = "tensorcore_sparsecore_oom",
        [OOM_ALLOCATION_EXCEEDS_MEMORY] = "allocation_exceeds_memory",
        [OOM_PROGRAM_LOAD] = "program_load",
        [OOM_RUNTIME_ALLOCATION] = "runtime_allocation",
        [OOM_GPU_ALLOCATION] = "gpu_allocation",
        [OOM_GPU_ALLOCATOR] = "gpu_allocator",
    };
    return kinds[kind];
}

int64_t oom_message_row(const struct oom_message *message, const char *row) {
    for (size_t i = 0; i < message->row_count; i++) {
        if (strcmp(message->rows[i].name, row) == 0) return message->rows[i].value;
    }
    return OOM_ABSENT;
}

void oom_message_add(struct oom_message *message, const char *row, int64_t value) {
    if (!row || message->row_count == OOM_ROWS_MAX || oom_message_row(message, row) != OOM_ABSENT) return;
    message->rows[message->row_count++] = (struct oom_row){row, value};
}

// --- The same message again ---

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
    if (a->kind != b->kind) return false;
    for (size_t i = 0; i < FIGURES; i++) {
        int64_t x = figure(a, i), y = figure(b, i);
        if (x != OOM_ABSENT && y != OOM_ABSENT && x != y) return false;
    }
    for (size_t i = 0; i < NAMES; i++) {
        if (differ(name(a, i), name(b, i))) return false;
    }
    return rows_agree(a, b) && entries_agree(a, b);
}

void oom_message_merge(struct oom_message *message, const struct oom_message *more) {
    for (size_t i = 0; i < FIGURES; i++) {
        if (figure(message, i) == OOM_ABSENT) set_figure(message, i, figure(more, i));
    }
    for (size_t i = 0; i < NAMES; i++) {
        if (!name(message, i)) *(const char **)((char *)message + names[i]) = name(more, i);
    }
    if (!message->error_code) message->error_code = more->error_code;
    for (size_t i = 0; i < more->row_count; i++) oom_message_add(message, more->rows[i].name, more->rows[i].value);
    if (more->entry_count > message->entry_count) {
        message->entries = more->entries;
        message->entry_count = more->entry_count;
        message->entries_left_out = more->entries_left_out;
    }
    message->count += more->count;
}

// --- An error, and the warnings before it ---

bool oom_message_is_warning_of(const struct oom_message *warning, const struct oom_message *error) {
    if (warning->kind != OOM_GPU_ALLOCATOR || error->kind != OOM_GPU_ALLOCATION) return false;
    if (!warning->allocator || !error->allocator || strcmp(warning->allocator, error->allocator) != 0) return false;
    int64_t asked = error->requested_bytes;
    return asked != OOM_ABSENT && (asked == warning->printed_bytes || asked == warning->requested_bytes);
}

void oom_message_take_warning(struct oom_message *error, const struct oom_message *warning) {
    error->line = warning->line;
    if (!error->requested_by) error->requested_by = warning->requested_by;
    for (size_t i = 0; i < warning->row_count; i++)
        oom_message_add(error, warning->rows[i].name, warning->rows[i].value);
}
