#include "analysis/hlo/hlo_text_live_range.h"

#include "analysis/base/growing_array.h"

struct reader {
    const struct hlo_text_assignment *assignment;
    struct hlo_text_live_range *range;
    struct id_map value_of;  // by whole name
    struct arena *arena;
    struct text_lines lines;
    struct error *error;
};

static bool too_big(const struct reader *r) {
    return error_in(r->error, ERROR_TOO_BIG, r->lines.file->path, (int64_t)r->lines.offset,
                    "no memory left at line %zu", r->lines.number);
}

static bool make_columns(struct reader *r) {
    const struct hlo_text_assignment *a = r->assignment;
    r->range->spans = arena_push_raw(r->arena, a->value_count, sizeof *r->range->spans);
    if (!r->range->spans || !id_map_init(&r->value_of, r->arena, a->value_count)) return too_big(r);
    for (size_t i = 0; i < a->value_count; i++) {
        r->range->spans[i] = (struct hlo_text_span){HLO_TEXT_NEVER, HLO_TEXT_NEVER};
        id_map_put(&r->value_of, id_map_key(a->values[i].whole), (uint32_t)i);
    }
    return true;
}

// Times come one after the other; one far ahead would only ask for memory.
static bool add_instruction(struct reader *r, int64_t time, struct bytes name) {
    struct hlo_text_live_range *range = r->range;
    if (time < 0 || (size_t)time > range->time_count || time >= HLO_TEXT_TIMES_MAX)
        return text_lines_fault(&r->lines, "expected the next time and its instruction", r->error);
    if ((size_t)time == range->time_count)
        return growing_array_add(r->arena, range->instructions, range->time_count, name) || too_big(r);
    range->instructions[time] = name;
    return true;
}

// "    1:copy-start"
static bool read_instruction(struct reader *r, struct bytes line) {
    int64_t time;
    text_skip_spaces(&line);
    if (!text_take_int64(&line, &time) || !text_take(&line, BYTES(":")) || line.size == 0)
        return text_lines_fault(&r->lines, "expected \"TIME:instruction\"", r->error);
    return add_instruction(r, time, line);
}

// "    copy-start{0}:1-9"
static bool read_span(struct reader *r, struct bytes line) {
    struct hlo_text_span span;
    text_skip_spaces(&line);
    struct bytes name = text_take_until(&line, ':');
    if (!text_take(&line, BYTES(":")) || !text_take_int64(&line, &span.start) || !text_take(&line, BYTES("-")) ||
        !text_take_int64(&line, &span.end) || span.start < 0 || span.end < span.start)
        return text_lines_fault(&r->lines, "expected \"value{index}:START-END\"", r->error);
    if (bytes_ends_with(name, BYTES("{}"))) name.size -= 2;
    uint32_t value = id_map_get(&r->value_of, id_map_key(name));
    if (value != ID_MAP_NONE) r->range->spans[value] = span;
    return true;
}

bool hlo_text_read_live_range(const struct hlo_text_file *file, const struct hlo_text_assignment *assignment,
                              struct arena *arena, struct hlo_text_live_range *range, struct error *error) {
    struct reader r = {assignment, range, {0}, arena, text_lines_open(file), error};
    enum { IN_HEAD, IN_SEQUENCE, IN_SPANS } part = IN_HEAD;
    struct bytes line = {0};
    *range = (struct hlo_text_live_range){0};
    if (!make_columns(&r)) return false;
    if (!text_lines_next(&r.lines, &line) || !bytes_starts_with(line, BYTES("HloLiveRange")))
        return text_lines_fault(&r.lines, "expected \"HloLiveRange (max TIME):\"", error);
    while (text_lines_next(&r.lines, &line)) {
        if (bytes_equal(line, BYTES("  InstructionSequence:"))) {
            part = IN_SEQUENCE;
        } else if (bytes_equal(line, BYTES("  BufferLiveRange:"))) {
            part = IN_SPANS;
        } else if (!bytes_starts_with(line, BYTES("    "))) {
            break;
        } else if (part == IN_SEQUENCE ? !read_instruction(&r, line) : part == IN_SPANS && !read_span(&r, line)) {
            return false;
        }
    }
    return true;
}
