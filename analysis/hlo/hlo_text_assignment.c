#include "analysis/hlo/hlo_text_assignment.h"

#include "analysis/base/growing_array.h"

#define EXPECTED_HEAD "expected \"BufferAssignment:\""
#define EXPECTED_ALLOCATION "expected \"allocation N: size BYTES, ...:\""
#define EXPECTED_VALUE "expected \"value: <N name @space> (size=BYTES,offset=BYTES): shape\" of an allocation"

static bool too_big(const struct text_lines *lines, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, lines->file->path, (int64_t)lines->offset, "no memory left at line %zu",
                    lines->number);
}

// --- An allocation ---

// Up to the next ", "; what stands between bars (a shape) is looked over.
static struct bytes take_attribute(struct bytes *text) {
    size_t at = 0;
    bool is_inside = false;
    for (; at < text->size; at++) {
        is_inside = is_inside != (text->data[at] == '|');
        if (!is_inside && text->data[at] == ',') break;
    }
    struct bytes attribute = {text->data, at};
    text_skip(text, at);
    text_take(text, BYTES(","));
    text_skip_spaces(text);
    return attribute;
}

static void read_attribute(struct bytes attribute, struct hlo_text_allocation *allocation) {
    if (text_take(&attribute, BYTES("color "))) {
        (void)text_take_int64(&attribute, &allocation->color);
    } else if (text_take(&attribute, BYTES("parameter "))) {
        allocation->is_parameter = text_take_int64(&attribute, &allocation->parameter_number);
    } else {
        allocation->is_constant |= bytes_equal(attribute, BYTES("constant"));
        allocation->is_thread_local |= bytes_equal(attribute, BYTES("thread-local"));
        allocation->maybe_live_out |= bytes_equal(attribute, BYTES("maybe-live-out"));
        allocation->is_temporary |= bytes_equal(attribute, BYTES("preallocated-temp"));
    }
}

// What follows "allocation ". Attributes of a newer XLA are passed over.
static bool read_allocation(struct bytes line, struct hlo_text_allocation *allocation) {
    if (!line.size || line.data[line.size - 1] != ':') return false;
    line.size--;
    if (!text_take_int64(&line, &allocation->index) || !text_take(&line, BYTES(": size ")) ||
        !text_take_int64(&line, &allocation->size_bytes) || allocation->size_bytes < 0)
        return false;
    for (text_take(&line, BYTES(", ")); line.size;) read_attribute(take_attribute(&line), allocation);
    return true;
}

// --- A value ---

static void cut_end(struct bytes *text, struct bytes ending) {
    if (bytes_ends_with(*text, ending)) text->size -= ending.size;
}

// "sort.6{1} (phi) @0": name, index and color.
static void read_name(struct bytes text, struct hlo_text_value *value) {
    size_t at = text.size;
    while (at > 0 && text.data[at - 1] != '@') at--;
    struct bytes color = {text.data + at, text.size - at};
    if (at >= 2 && text.data[at - 2] == ' ' && text_take_int64(&color, &value->color)) text.size = at - 2;
    cut_end(&text, BYTES(" (phi)"));
    value->whole = value->name = text;
    size_t brace = text.size;
    while (brace > 0 && text.data[brace - 1] != '{') brace--;
    if (brace == 0 || text.data[text.size - 1] != '}') return;
    value->name.size = brace - 1;
    value->index = (struct bytes){text.data + brace, text.size - brace - 1};
    if (value->index.size == 0) value->whole = value->name;
}

// What follows " value: ".
static bool read_value(struct bytes line, struct hlo_text_value *value) {
    if (!text_take(&line, BYTES("<")) || !text_take_int64(&line, &value->id) || !text_take(&line, BYTES(" ")))
        return false;
    struct bytes name = {line.data, bytes_find(line, BYTES("> (size="))};
    text_skip(&line, name.size);
    read_name(name, value);
    bool is_whole = name.size > 0 && text_take(&line, BYTES("> (size=")) &&
                    text_take_int64(&line, &value->size_bytes) && text_take(&line, BYTES(",offset=")) &&
                    text_take_int64(&line, &value->offset) && text_take(&line, BYTES("): ")) &&
                    value->size_bytes >= 0 && value->offset >= 0;
    value->shape = line;
    return is_whole && line.size > 0;
}

// --- The whole ---

static bool add_allocation(struct text_lines *lines, struct bytes line, struct arena *arena,
                           struct hlo_text_assignment *a, struct error *error) {
    struct hlo_text_allocation allocation = {.first_value = a->value_count};
    if (!read_allocation(line, &allocation)) return text_lines_fault(lines, EXPECTED_ALLOCATION, error);
    return growing_array_add(arena, a->allocations, a->allocation_count, allocation) || too_big(lines, error);
}

static bool add_value(struct text_lines *lines, struct bytes line, struct arena *arena, struct hlo_text_assignment *a,
                      struct error *error) {
    struct hlo_text_value value = {0};
    if (!read_value(line, &value) || a->allocation_count == 0) return text_lines_fault(lines, EXPECTED_VALUE, error);
    if (!growing_array_add(arena, a->values, a->value_count, value)) return too_big(lines, error);
    a->allocations[a->allocation_count - 1].value_count++;
    return true;
}

// The values' uses follow the allocations in what older XLAs write.
static bool ends_allocations(struct bytes line) {
    return bytes_starts_with(line, BYTES("Total bytes used")) || bytes_starts_with(line, BYTES("Used values"));
}

bool hlo_text_read_assignment(const struct hlo_text_file *file, struct arena *arena,
                              struct hlo_text_assignment *assignment, struct error *error) {
    struct text_lines lines = text_lines_open(file);
    struct bytes line = {0};
    *assignment = (struct hlo_text_assignment){0};
    if (!text_lines_next(&lines, &line) || !bytes_equal(line, BYTES("BufferAssignment:")))
        return text_lines_fault(&lines, EXPECTED_HEAD, error);
    while (text_lines_next(&lines, &line) && !ends_allocations(line)) {
        if (line.size == 0) continue;
        bool is_value = text_take(&line, BYTES(" value: "));
        if (!is_value && !text_take(&line, BYTES("allocation ")))
            return text_lines_fault(&lines, "expected an allocation or one of its values", error);
        if (is_value ? !add_value(&lines, line, arena, assignment, error)
                     : !add_allocation(&lines, line, arena, assignment, error))
            return false;
    }
    return true;
}
