#include "server/explanation/explanation.h"

#include "analysis/input/byte_source.h"
#include "analysis/oom/oom_match.h"
#include "analysis/oom/oom_text.h"

// --- The log ---

// What a .gz holds; of one that breaks, what lies before that, and `broken` says so.
static bool unpack(struct bytes packed, struct arena *arena, struct bytes *log, const char **broken,
                   struct error *error) {
    struct byte_source *source = byte_source_of_memory(packed, "the log", error);
    uint64_t size = 0;
    if (!source) return false;
    bool is_whole = byte_source_reach(source, (uint64_t)OOM_LOG_BYTES_MAX + 1, &size, error);
    if (!is_whole) *broken = arena_string(arena, bytes_of(error->message));
    bool is_good = (is_whole || size) && byte_source_load(source, 0, size, OOM_LOG_BYTES_MAX, arena, log, error);
    byte_source_close(source);
    return is_good;
}

static bool is_gzip(struct bytes log) {
    return log.size > 2 && log.data[0] == 0x1f && log.data[1] == 0x8b;
}

// --- Its messages ---

// From buffers that are not the message's no figure is taken.
static void explain_one(struct explain_joins *joins, const struct explain_request *asked, struct arena *arena,
                        struct explained *item) {
    const struct oom_message *message = item->message;
    item->join = joins->sessions.store ? explain_join(joins, message, &item->search) : NULL;
    const struct explain_join *join = item->join;
    explain_loaded(joins, message, join, &item->loaded);
    item->is_same_size = join && oom_is_size_near(message, &join->evidence.totals);
    oom_diagnose(message, join ? &join->evidence : NULL, asked->capacity_bytes, arena, &item->diagnosis);
    item->capacity_bytes = asked->capacity_bytes > 0 ? asked->capacity_bytes : message->capacity_bytes;
    if (join && item->is_same_size && join->advice)
        item->advice = explain_advice_add(join->advice, item->capacity_bytes, arena, &item->diagnosis);
    if (join && item->is_same_size && join->holders.count)
        item->holders = join->holders;
    else
        oom_holders_listed(message, arena, &item->holders);
}

bool explanation_make(struct work *work, struct store *store, const struct explain_request *asked,
                      struct explanation *explanation, struct error *error) {
    struct bytes log = asked->log;
    *explanation = (struct explanation){.broken = NULL};
    if (is_gzip(log) && !unpack(log, &work->arena, &log, &explanation->broken, error)) return false;
    if (!oom_log_read(log, &work->arena, &explanation->log, error)) return false;
    size_t count = explanation->log.message_count;
    explanation->items = arena_new(&work->arena, struct explained, count + 1);
    if (!explanation->items) return work_out_of_memory(error);
    struct explain_joins joins = {.sessions = {.work = work, .store = store},
                                  .asked = {asked->session, asked->preferred, asked->module}};
    for (size_t i = 0; i < count; i++) {
        explanation->items[i].message = &explanation->log.messages[i];
        explain_one(&joins, asked, &work->arena, &explanation->items[i]);
    }
    explanation->unreadable = joins.sessions.unreadable;
    explanation->unreadable_count = joins.sessions.unreadable_count;
    return true;
}

int64_t explained_needed_bytes(const struct explained *item) {
    const struct oom_message *message = item->message;
    if (message->needed_bytes != OOM_ABSENT) return message->needed_bytes;
    if (message->tensorcore_bytes != OOM_ABSENT && message->sparsecore_bytes != OOM_ABSENT &&
        message->tensorcore_bytes < INT64_MAX - message->sparsecore_bytes)
        return message->tensorcore_bytes + message->sparsecore_bytes;
    if (message->kind == OOM_ALLOCATION_EXCEEDS_MEMORY && item->join && item->is_same_size)
        return item->join->evidence.totals.total_bytes;
    return message->requested_bytes;
}

int64_t explained_over_bytes(const struct explained *item) {
    int64_t needed = explained_needed_bytes(item);
    if (needed == OOM_ABSENT || item->capacity_bytes == OOM_ABSENT || needed <= item->capacity_bytes) return OOM_ABSENT;
    return needed - item->capacity_bytes;
}
