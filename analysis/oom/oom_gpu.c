#include <string.h>

#include "analysis/oom/oom_shapes.h"

enum { HEAD_BYTES = 4096, OP_BYTES_MAX = 512 };

// --- "Out of memory while trying to allocate BYTES bytes." and XLA:GPU's report behind it ---

static void skip_percent(struct oom_cursor *cursor) {
    struct oom_cursor at = *cursor;
    double percent;
    if (oom_take(&at, "(") && oom_take_percent(&at, &percent) && oom_take(&at, ")")) *cursor = at;
}

static bool parse_statistic(struct oom_cursor *cursor, struct oom_message *message) {
    static const char *const names[] = {"parameter allocation",
                                        "constant allocation",
                                        "maybe_live_out allocation",
                                        "preallocated temp allocation",
                                        "preallocated temp fragmentation",
                                        "total allocation",
                                        "total fragmentation",
                                        "thread_local allocation"};
    struct oom_cursor at = *cursor;
    const char *name = oom_take_any(&at, names, sizeof names / sizeof names[0], ":");
    int64_t bytes;
    if (!name || !oom_take_size(&at, &bytes)) return false;
    skip_percent(&at);
    oom_message_add(message, name, bytes);
    *cursor = at;
    return true;
}

bool oom_parse_gpu_report(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    oom_take(cursor, ".");
    struct oom_cursor at = *cursor;
    if (oom_find(&at, "BufferAssignment stats:", HEAD_BYTES)) {
        while (parse_statistic(&at, message)) continue;
        *cursor = at;
    }
    if (!oom_find(&at, "Peak buffers:", HEAD_BYTES)) return true;
    *cursor = at;
    oom_parse_entries(cursor, arena, message);
    return true;
}

// "with allocator GPU_0_bfc on device 0. [executable_name='jit_train_step'] [tf-allocator-allocation-error='']", the
// brackets in any order.
static void take_executable(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    struct oom_cursor at = *cursor;
    int64_t device;
    if (!oom_take(&at, "with allocator")) return;
    const char *allocator = oom_take_name(&at, "_-:/", " ", arena);
    if (!allocator || !oom_take(&at, "on device") || !oom_take_digits(&at, false, &device)) return;
    message->allocator = allocator;
    *cursor = at;
    for (oom_take(&at, "."); oom_take(&at, "["); *cursor = at) {
        if (oom_take(&at, "executable_name='")) message->module = oom_take_name(&at, "_.-()", "'", arena);
        if (!oom_find(&at, "]", HEAD_BYTES)) return;
    }
}

bool oom_parse_gpu(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    struct oom_cursor at = *cursor;
    bool is_size = oom_take_size_before(&at, "bytes", &message->requested_bytes);
    if (!is_size) is_size = oom_take_size(&at, &message->requested_bytes);
    if (!is_size) {
        const uint8_t *next = oom_past_blanks(cursor->at, cursor->end);
        message->requested_bytes = OOM_ABSENT;
        return next == cursor->end || oom_is_digit(*next);
    }
    *cursor = at;
    take_executable(cursor, arena, message);
    at = *cursor;
    oom_take(&at, ".");
    if (oom_find(&at, "BufferAssignment OOM Debugging", HEAD_BYTES)) {
        *cursor = at;
        return oom_parse_gpu_report(cursor, arena, message);
    }
    return true;
}

// --- "Allocator (GPU_0_bfc) ran out of memory trying to allocate NGiB (rounded to BYTES)" ---

static const char *take_statistic(struct oom_cursor *cursor) {
    static const char *const names[] = {"Limit",        "InUse",    "MaxInUse",     "NumAllocs",
                                        "MaxAllocSize", "Reserved", "PeakReserved", "LargestFreeBlock"};
    return oom_take_any(cursor, names, sizeof names / sizeof names[0], ":");
}

// Steps over the digits of the last figure, which only the line's end closes. Digits on the next line may be the
// rest of a broken number, unless they are those of a date or a time: then the figure is not known.
static bool take_last_figure(struct oom_cursor *cursor, int64_t *value) {
    struct oom_cursor at = *cursor;
    int64_t next;
    if (!oom_take_digits(&at, false, value)) return false;
    while (at.at < at.end && *at.at == ' ') at.at++;
    if (at.at == at.end || *at.at != '\n') return false;
    struct oom_cursor after = at;
    bool has_more = oom_take_digits(&after, false, &next);
    if (has_more && !strchr("-/:", *after.at)) return false;
    *cursor = at;
    return true;
}

// Bare digits count only when the next figure follows, or the line's end for the last one.
static void parse_statistics(struct oom_cursor *cursor, struct oom_message *message) {
    const char *name, *next;
    for (name = take_statistic(cursor); name; name = next) {
        int64_t value;
        struct oom_cursor at = *cursor, last = *cursor;
        bool is_number = oom_take_digits(&at, true, &value);
        struct oom_cursor after = at;
        next = is_number ? take_statistic(&after) : NULL;
        if (next) {
            oom_message_add(message, name, value);
            *cursor = after;
        } else if (strcmp(name, "LargestFreeBlock") == 0 && take_last_figure(&last, &value)) {
            oom_message_add(message, name, value);
            *cursor = last;
        }
    }
}

static bool sees_next_sentence(struct oom_cursor at) {
    return oom_sees(at, "If the cause is") || oom_sees(at, "If this is caused by") ||
           oom_sees(at, "Current allocation");
}

// "requested by op layer/MatMul": what stands before the sentence that follows it, its broken lines joined. XLA names
// no op.
static const char *take_op(struct oom_cursor *cursor, struct arena *arena) {
    const uint8_t *start = oom_past_blanks(cursor->at, cursor->end), *limit = oom_near(*cursor, OP_BYTES_MAX).end;
    for (struct oom_cursor at = {start, cursor->end}; at.at < limit; at.at++) {
        bool is_word = at.at == start || oom_is_blank(*at.at);
        if (!is_word || !sees_next_sentence(at)) continue;
        cursor->at = at.at;
        return at.at > start ? oom_join_lines(start, at.at, arena) : NULL;
    }
    return NULL;
}

bool oom_parse_allocator(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    message->allocator = oom_take_name(cursor, "_-:/. ", ")", arena);
    if (!message->allocator || !oom_take(cursor, "ran out of memory trying to allocate")) return false;
    int64_t rounded;
    struct oom_cursor at = *cursor;
    if (oom_find(&at, "The caller indicates that this is not a failure", HEAD_BYTES / 8)) return false;
    if (!oom_take_size(cursor, &rounded)) return true;
    message->requested_bytes = message->printed_bytes = rounded;
    at = *cursor;
    if (!oom_take(&at, "(rounded to") || !oom_take_size_before(&at, ")", &message->requested_bytes)) return true;
    *cursor = at;
    if (!oom_take(cursor, "from the lower end")) oom_take(cursor, "from the upper end");
    if (oom_take(cursor, "requested by op")) message->requested_by = take_op(cursor, arena);
    at = *cursor;
    while (oom_find(&at, "Stats:", (size_t)(at.end - at.at))) {
        if (!oom_sees(at, "Limit:")) continue;
        *cursor = at;
        parse_statistics(cursor, message);
        break;
    }
    message->capacity_bytes = oom_message_row(message, "Limit");
    return true;
}
