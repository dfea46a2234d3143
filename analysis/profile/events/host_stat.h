// The stats of an event, one after another: the innermost loop of reading a profile (a memory event has 15 of them), so
// it is inline, and has a fast way for what every profiler writes:
//
//     22 n | XStat = 08 id, then one of   double 11 ........ | uint64 18 v | int64 20 v | text 2a n ... | ref 38 v
//
// Any other legal spelling is read by the careful way. The fast way may look at up to HOST_STAT_SLACK_BYTES behind the
// event (and ignores them), so these must be readable: line_reader.h leaves them.
#pragma once

#include "analysis/profile/events/host_event.h"
#include "analysis/profile/events/short_varint.h"
#include "proto/xplane_fields.h"

enum { HOST_STAT_SLACK_BYTES = VARINT_SLACK_BYTES + 6 };

enum stat_value_type { STAT_NONE, STAT_DOUBLE, STAT_UINT64, STAT_INT64, STAT_TEXT, STAT_BYTES, STAT_REF };

struct stat_value {
    enum stat_value_type type;
    uint64_t bits;      // DOUBLE, UINT64, INT64, REF
    struct bytes text;  // TEXT: a view into the event
};

// Any spelling. False at the end of the event, and early when its bytes are no message.
bool host_stat_next_any(struct wire *w, uint64_t *id, struct stat_value *value);

// The types by the key of the value's field; STAT_NONE for what the fast way leaves alone.
static inline enum stat_value_type host_stat_number_type(uint8_t key) {
    if (key == (XSTAT_INT64_VALUE << 3 | WIRE_VARINT)) return STAT_INT64;
    if (key == (XSTAT_REF_VALUE << 3 | WIRE_VARINT)) return STAT_REF;
    return key == (XSTAT_UINT64_VALUE << 3 | WIRE_VARINT) ? STAT_UINT64 : STAT_NONE;
}

// The fast way: false when the next field is not such a stat; then nothing was read. *head_size is what stands before
// the value: 22 n 08 id and the value's key.
static inline bool host_stat_next_short(struct wire *w, uint64_t *id, struct stat_value *value, size_t *head_size) {
    const uint8_t *at = w->at;
    if (w->end - at < 6 || at[0] != (XEVENT_STATS << 3 | WIRE_LEN) || at[1] >= 0x80) return false;
    const uint8_t *end = at + 2 + at[1];
    if (end > w->end || at[1] < 4 || at[2] != (XSTAT_METADATA_ID << 3 | WIRE_VARINT)) return false;
    at += 3;
    if (!wire_short_varint(&at, id)) return false;
    uint8_t key = *at++;
    *head_size = (size_t)(at - w->at);
    if (at == end) return false;
    value->type = host_stat_number_type(key);
    if (value->type != STAT_NONE) {
        at = short_varint(at, &value->bits);
    } else if (key == (XSTAT_DOUBLE_VALUE << 3 | WIRE_FIXED64) && end - at == 8) {
        value->type = STAT_DOUBLE;
        memcpy(&value->bits, at, 8);
        at = end;
    }
    if (value->type == STAT_NONE || at != end) return false;
    w->at = end;
    return true;
}

// The next stat.
static inline bool host_stat_next(struct wire *w, const struct metadata_kinds *stats, enum host_stat_kind *kind,
                                  struct stat_value *value) {
    uint64_t id;
    size_t head_size;
    if (w->at == w->end) return false;
    if (!host_stat_next_short(w, &id, value, &head_size) && !host_stat_next_any(w, &id, value)) return false;
    *kind = (enum host_stat_kind)metadata_kind(stats, id);
    return true;
}

// What the value is as XProf reads it: a number where a number is expected, else 0.
static inline int64_t stat_int64(const struct stat_value *value) {
    return value->type == STAT_INT64 ? (int64_t)value->bits : 0;
}

static inline uint64_t stat_int_or_uint(const struct stat_value *value) {
    return value->type == STAT_INT64 || value->type == STAT_UINT64 ? value->bits : 0;
}
