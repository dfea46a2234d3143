#include "analysis/hlo/hlo_message.h"

enum { AHEAD_BYTES = 1024 };  // counting jumps from part to part and would wait at each for memory: a tenth of a load

bool hlo_message_fault(struct error *error, struct bytes blob, const struct wire *w, const char *message_name) {
    return error_at(error, ERROR_MALFORMED, w->at - blob.data, "damaged %s: expected %s", message_name, w->fault);
}

bool hlo_message_too_big(struct error *error, const struct arena *arena) {
    return error_set(error, ERROR_TOO_BIG, "the HLO module needs more than the %zu MiB that one module may take",
                     arena->limit_bytes >> 20);
}

bool hlo_message_count(struct bytes blob, struct bytes message, uint32_t number, const char *message_name,
                       uint32_t *count, struct error *error) {
    struct wire w = wire_open(message);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        __builtin_prefetch(w.at + AHEAD_BYTES);
        if (f.number != number || f.type != WIRE_LEN) continue;
        if (++*count == UINT32_MAX)
            return error_set(error, ERROR_TOO_BIG, "more than 2^32 parts in one %s", message_name);
    }
    return !w.fault || hlo_message_fault(error, blob, &w, message_name);
}
