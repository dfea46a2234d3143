#include "server/explanation/explanation.h"

#include "analysis/oom/oom_match.h"

// From buffers that are not the message's no figure is taken.
static void explain_one(struct explain_joins *joins, const struct explain_request *asked, struct arena *arena,
                        struct explained *item) {
    const struct oom_message *message = item->message;
    item->join = joins->sessions.store ? explain_join(joins, message, &item->search) : NULL;
    const struct explain_join *join = item->join;
    item->is_same_size = join && oom_is_size_near(message, join->evidence.totals.total_bytes);
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
    if (!oom_log_read(asked->log, &work->arena, &explanation->log, error)) return false;
    size_t count = explanation->log.message_count;
    explanation->items = arena_new(&work->arena, struct explained, count + 1);
    if (!explanation->items) return work_out_of_memory(error);
    struct explain_joins joins = {.sessions = {.work = work, .store = store},
                                  .asked = {asked->session, asked->preferred, asked->module}};
    for (size_t i = 0; i < count; i++) {
        explanation->items[i].message = &explanation->log.messages[i];
        explain_one(&joins, asked, &work->arena, &explanation->items[i]);
    }
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
