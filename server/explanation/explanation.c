#include "server/explanation/explanation.h"

bool explanation_make(struct work *work, struct store *store, const struct explain_request *asked,
                      struct explanation *explanation, struct error *error) {
    if (!oom_log_read(asked->log, &work->arena, &explanation->log, error)) return false;
    size_t count = explanation->log.message_count;
    explanation->items = arena_new(&work->arena, struct explained, count + 1);
    if (!explanation->items) return work_out_of_memory(error);
    struct explain_joins joins = {work, store, asked->session, asked->module, NULL, NULL};
    for (size_t i = 0; i < count; i++) {
        struct explained *item = &explanation->items[i];
        item->message = &explanation->log.messages[i];
        item->join = store ? explain_join(&joins, item->message) : NULL;
        oom_diagnose(item->message, item->join ? &item->join->evidence : NULL, asked->capacity_bytes, &work->arena,
                     &item->diagnosis);
        int64_t capacity = asked->capacity_bytes > 0 ? asked->capacity_bytes : item->message->capacity_bytes;
        if (item->join && item->join->advice)
            item->advice = explain_advice_add(item->join->advice, capacity, &work->arena, &item->diagnosis);
    }
    return true;
}
