#include <string.h>

#include "analysis/oom/oom_shapes.h"

enum { SENTENCE_BYTES = 800, TAG_BYTES_MAX = 4096 };

// --- TensorCore against SparseCore ---

static int64_t size_before(struct oom_cursor *cursor, const char *words) {
    int64_t bytes;
    return oom_take_size_before(cursor, words, &bytes) ? bytes : OOM_ABSENT;
}

bool oom_parse_cores(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    (void)arena;
    message->memory_space = "hbm";
    message->tensorcore_bytes = size_before(cursor, ",");
    if (!oom_take(cursor, "SparseCore Hbm usage")) return message->tensorcore_bytes != OOM_ABSENT;
    oom_take(cursor, ":");
    message->sparsecore_bytes = size_before(cursor, ",");
    if (oom_take(cursor, "exceeding available bytes:") && !oom_take_last_size(cursor, &message->capacity_bytes))
        message->capacity_bytes = OOM_ABSENT;
    return true;
}

// --- "Allocation (size=N) would exceed memory (size=N) :: #allocation7 [shape = '...', space=hbm, ...]" ---

// The text up to the quote after it.
static const char *take_quoted(struct oom_cursor *cursor, struct arena *arena) {
    struct oom_cursor near = oom_near(*cursor, TAG_BYTES_MAX);
    const uint8_t *start = near.at, *quote = memchr(start, '\'', (size_t)(near.end - start));
    if (!quote) return NULL;
    cursor->at = quote + 1;
    return oom_join_lines(start, quote, arena);
}

static void parse_exceeding_entry(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    struct oom_cursor at = oom_near(*cursor, (size_t)2 * TAG_BYTES_MAX);
    struct oom_entry *entry = arena_new(arena, struct oom_entry, 1);
    if (!entry || !oom_find(&at, "[shape = '", SENTENCE_BYTES)) return;
    *entry = (struct oom_entry){
        .size_bytes = message->requested_bytes, .unpadded_bytes = OOM_ABSENT, .padding_bytes = OOM_ABSENT};
    entry->shape = take_quoted(&at, arena);
    if (!entry->shape) return;
    const char *space = oom_take(&at, ", space=") ? oom_take_space(&at, arena) : NULL;
    if (space && oom_sees(at, ",")) message->memory_space = space;
    message->entries = entry;
    message->entry_count = 1;
    cursor->at = at.at;
    if (!oom_find(&at, "tag = '", SENTENCE_BYTES)) return;
    bool is_output = oom_take(&at, "output of");
    while (is_output && at.at < at.end && *at.at == ' ') at.at++;
    const char *tag = take_quoted(&at, arena);
    entry->label = tag && is_output ? arena_printf(arena, "output of %s", tag) : tag;
    cursor->at = at.at;
}

bool oom_parse_exceeds(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    message->requested_bytes = size_before(cursor, ")");
    if (message->requested_bytes == OOM_ABSENT) return false;
    if (!oom_take(cursor, "would exceed memory (size=")) return cursor->at == cursor->end;
    message->capacity_bytes = size_before(cursor, ")");
    parse_exceeding_entry(cursor, arena, message);
    return true;
}

// --- The TPU runtime ---

// "There are N free, N reserved, and N reservable."
static void parse_room(struct oom_cursor *cursor, struct oom_message *message) {
    struct oom_cursor at = *cursor;
    if (!oom_find(&at, "There are", SENTENCE_BYTES)) return;
    message->free_bytes = size_before(&at, "free");
    *cursor = at;
    oom_take(&at, ",");
    int64_t reserved = size_before(&at, "reserved,");
    if (reserved == OOM_ABSENT) return;
    oom_message_add(message, "reserved", reserved);
    oom_take(&at, "and");
    message->reservable_bytes = size_before(&at, "reservable");
    *cursor = at;
}

bool oom_parse_reserve(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    (void)arena;
    message->requested_bytes = size_before(cursor, "at the bottom of memory");
    if (message->requested_bytes == OOM_ABSENT) return false;
    parse_room(cursor, message);
    return true;
}

bool oom_parse_program(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    if (oom_take(cursor, "'")) message->module = take_quoted(cursor, arena);
    struct oom_cursor at = *cursor;
    if (!oom_find(&at, "Attempting to reserve", SENTENCE_BYTES)) return message->module || at.at == at.end;
    *cursor = at;
    bool has_figures = oom_parse_reserve(cursor, arena, message);
    return has_figures || message->module;
}

bool oom_parse_allocate(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    (void)arena;
    static const char refusal[] = ". That was not possible";
    struct oom_cursor cut = *cursor;
    message->requested_bytes = size_before(cursor, refusal);
    if (message->requested_bytes == OOM_ABSENT) {
        bool is_cut = oom_take_size(&cut, &message->requested_bytes) && oom_take(&cut, ".");
        return is_cut && oom_past_blanks(cut.at, cut.end) == cut.end;
    }
    parse_room(cursor, message);
    struct oom_cursor at = *cursor;
    if (oom_find(&at, "_HBM", TAG_BYTES_MAX / 64)) message->memory_space = "hbm", *cursor = at;
    if (!oom_find(&at, "maximum reservable bytes would be", SENTENCE_BYTES)) return true;
    *cursor = at;
    if (!oom_take_last_size(&at, &message->reservable_bytes) && !oom_take_size(&at, &message->reservable_bytes))
        message->reservable_bytes = OOM_ABSENT;
    else
        *cursor = at;
    return true;
}
