// Any bytes as a log: reading ends, figures are absent or not negative, and every message gets a diagnosis.
//
//     make fuzz T=oom_message
#include <stdlib.h>
#include <string.h>

#include "analysis/oom/oom_diagnose.h"
#include "analysis/oom/oom_log.h"
#include "analysis/base/size_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARENA_BYTES = 256 << 20, LOG_BYTES_MAX = 1 << 20 };

static void require(bool holds) {
    if (!holds) abort();
}

static void check_figure(int64_t value) {
    require(value == OOM_ABSENT || value >= 0);
}

static void check_message(const struct oom_message *message, size_t log_size) {
    check_figure(message->needed_bytes), check_figure(message->capacity_bytes);
    check_figure(message->exceeded_bytes), check_figure(message->requested_bytes);
    check_figure(message->free_bytes), check_figure(message->reservable_bytes);
    check_figure(message->tensorcore_bytes), check_figure(message->sparsecore_bytes);
    require(message->kind < OOM_KIND_COUNT && oom_kind_name(message->kind));
    require(message->row_count <= OOM_ROWS_MAX && message->entry_count <= OOM_ENTRIES_MAX);
    for (size_t i = 0; i < message->row_count; i++) require(message->rows[i].name && message->rows[i].value >= 0);
    for (size_t i = 0; i < message->entry_count; i++) {
        require(message->entries[i].size_bytes >= 0 || message->kind == OOM_ALLOCATION_EXCEEDS_MEMORY);
        require(!message->entries[i].shape || strlen(message->entries[i].shape) <= 2 * log_size);
    }
    require(message->count > 0 && message->line > 0);
}

static void check_diagnosis(const struct oom_message *message, struct arena *arena) {
    struct oom_diagnosis diagnosis;
    oom_diagnose(message, NULL, OOM_ABSENT, arena, &diagnosis);
    require(diagnosis.fix_count <= OOM_FIXES_MAX && diagnosis.cause_count <= OOM_CAUSES_MAX);
    require(diagnosis.fix_count > 0);
    require(!diagnosis.scenario == !diagnosis.scenario_reason);
    require(!diagnosis.cause || message->kind == OOM_PROGRAM_LOAD);
    for (size_t i = 0; i < diagnosis.cause_count; i++) require(diagnosis.causes[i] != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct oom_log log;
    struct error error;
    int64_t bytes;
    if (size > LOG_BYTES_MAX) return 0;
    arena_init(&arena, ARENA_BYTES);
    if (oom_log_read((struct bytes){data, size}, &arena, &log, &error)) {
        require(log.message_count <= OOM_MESSAGES_MAX);
        for (size_t i = 0; i < log.message_count; i++) {
            check_message(&log.messages[i], size);
            check_diagnosis(&log.messages[i], &arena);
        }
    } else {
        require(error.code == ERROR_TOO_BIG && error.message[0]);
    }
    const char *text = arena_string(&arena, (struct bytes){data, size});
    if (text && size_text_read(text, &bytes)) require(bytes > 0);
    arena_free(&arena);
    return 0;
}
