#include "analysis/input/device_memory_look.h"

#include "analysis/input/file_cursor.h"
#include "proto/pprof_fields.h"

enum { MAX_TYPES = 8, LONGEST_TYPE_BYTES = 22, MAX_PPROF_FIELD = 15, NAME_BYTES = 5 };
enum { GO_ON = -1 };  // in place of a verdict

struct type_names {  // string indexes
    uint64_t type, unit;
    bool is_space, is_bytes;
};

struct look {
    struct file_cursor cursor;
    struct type_names types[MAX_TYPES];
    size_t type_count, field_count;
    uint64_t name_count;  // names passed so far
    uint64_t last_name;   // the largest index among the types
    struct error *why;
};

// --- What is said ---

static int say(const struct look *look, enum device_memory_verdict verdict, enum error_code code, const char *words) {
    const char *path = byte_source_path(look->cursor.source);
    (void)error_in(look->why, code, path, (int64_t)look->cursor.at, "%s", words);
    return (int)verdict;
}

static int is_misfit(const struct look *look) {
    return say(look, DEVICE_MEMORY_IS_BROKEN, ERROR_MALFORMED,
               look->type_count ? "expected a field of a device memory profile (pprof)"
                                : "expected a sample type of pprof (field 1), as a device memory profile begins");
}

static int is_at_end(const struct look *look) {
    return say(look, DEVICE_MEMORY_IS_BROKEN, ERROR_TRUNCATED,
               look->cursor.at ? "expected the names of the sample types of a device memory profile, the file ends here"
                               : "the file is empty; it should be a device memory profile");
}

// Whether the fault is the content's own.
static bool lasts(const struct error *error) {
    return error->code == ERROR_TRUNCATED || error->code == ERROR_MALFORMED || error->code == ERROR_TOO_BIG;
}

// *why says what is wrong with a field.
static int is_at_fault(const struct look *look) {
    const struct error fault = *look->why;
    if (!lasts(&fault)) return DEVICE_MEMORY_UNTOLD;
    if (look->type_count) return DEVICE_MEMORY_IS_ONE;
    (void)error_in(look->why, fault.code, fault.file, fault.offset,
                   "%.300s; a device memory profile begins with a sample type of pprof (field 1)", fault.message);
    return DEVICE_MEMORY_IS_BROKEN;
}

static int judge_types(const struct look *look) {
    for (size_t i = 0; i < look->type_count; i++) {
        if (look->types[i].is_space && look->types[i].is_bytes) return DEVICE_MEMORY_IS_ONE;
    }
    return say(look, DEVICE_MEMORY_IS_ANOTHER, ERROR_MALFORMED,
               "expected a sample type of space in bytes, it is a profile (pprof) of something else");
}

// --- Its fields ---

static bool is_type(struct bytes message, struct type_names *names) {
    struct wire w = wire_open(message);
    struct wire_field f;
    *names = (struct type_names){0};
    while (wire_next(&w, &f)) {
        if (f.type != WIRE_VARINT || (f.number != PPROF_VALUE_TYPE_TYPE && f.number != PPROF_VALUE_TYPE_UNIT))
            return false;
        if (f.number == PPROF_VALUE_TYPE_TYPE) names->type = f.value;
        if (f.number == PPROF_VALUE_TYPE_UNIT) names->unit = f.value;
    }
    return !w.fault && names->type && names->unit;
}

static bool take_type(struct look *look, const struct file_field *field) {
    struct bytes message;
    struct type_names names;
    size_t size = (size_t)field->payload_size;
    if (!byte_source_peek(look->cursor.source, field->payload_offset, size, &message, look->why) ||
        message.size != size || !is_type(message, &names))
        return false;
    look->types[look->type_count++] = names;
    uint64_t last = names.type > names.unit ? names.type : names.unit;
    if (last > look->last_name) look->last_name = last;
    return true;
}

// Both names that matter are of NAME_BYTES.
static bool take_name(struct look *look, const struct file_field *field) {
    struct bytes name = {0};
    if (field->payload_size == NAME_BYTES &&
        !byte_source_peek(look->cursor.source, field->payload_offset, NAME_BYTES, &name, look->why))
        return false;
    for (size_t i = 0; i < look->type_count; i++) {
        if (look->types[i].type == look->name_count) look->types[i].is_space = bytes_equal(name, BYTES("space"));
        if (look->types[i].unit == look->name_count) look->types[i].is_bytes = bytes_equal(name, BYTES("bytes"));
    }
    look->name_count++;
    return true;
}

static bool is_of_pprof(const struct file_field *field) {
    bool is_message = field->number <= PPROF_STRING_TABLE;
    return field->number <= MAX_PPROF_FIELD && (!is_message || field->type == WIRE_LEN);
}

// Whether such a field stands at this place of a device memory profile, by its key and length.
static bool belongs(const struct look *look, const struct file_field *field) {
    if (!is_of_pprof(field)) return false;
    if (field->number == PPROF_SAMPLE_TYPE)
        return look->name_count == 0 && look->type_count < MAX_TYPES && field->payload_size <= LONGEST_TYPE_BYTES;
    return look->type_count > 0;
}

static int take_field(struct look *look, const struct file_field *field) {
    look->why->code = ERROR_NONE;
    bool is_good = field->number == PPROF_SAMPLE_TYPE    ? take_type(look, field)
                   : field->number == PPROF_STRING_TABLE ? take_name(look, field)
                                                         : true;
    if (!is_good) return look->why->code == ERROR_NONE ? is_misfit(look) : is_at_fault(look);
    return look->name_count > look->last_name ? judge_types(look) : GO_ON;
}

static int look_at_next(struct look *look) {
    struct file_cursor *cursor = &look->cursor;
    struct file_field field;
    if (cursor->at >= DEVICE_MEMORY_LOOK_BYTES || look->field_count++ == DEVICE_MEMORY_LOOK_FIELDS)
        return DEVICE_MEMORY_IS_ONE;
    if (!file_cursor_see(cursor, &field, look->why)) return cursor->has_failed ? is_at_fault(look) : is_at_end(look);
    if (!belongs(look, &field)) return is_misfit(look);
    if (field.payload_size > DEVICE_MEMORY_LOOK_BYTES - cursor->at) return DEVICE_MEMORY_IS_ONE;
    if (!file_cursor_skip(cursor, &field, look->why)) return is_at_fault(look);
    return take_field(look, &field);
}

// --- The whole ---

// A dictionary of tuples as the module marshal writes it, with or without the flag of what is referred to again.
static bool is_marshalled(struct bytes head) {
    uint8_t first = head.size >= 2 ? head.data[0] & 0x7f : 0, second = head.size >= 2 ? head.data[1] & 0x7f : 0;
    return first == '{' && (second == '(' || second == ')' || second == '0');
}

static struct look begin(struct byte_source *source, struct error *why) {
    return (struct look){.cursor = file_cursor_over(source), .why = why};
}

static int look_at_first(struct look *look) {
    struct bytes head;
    if (!byte_source_peek(look->cursor.source, 0, 2, &head, look->why)) return is_at_fault(look);
    if (is_marshalled(head))
        return say(look, DEVICE_MEMORY_IS_ANOTHER, ERROR_MALFORMED,
                   "expected a device memory profile, it is one of Python's own (cProfile)");
    return look_at_next(look);
}

enum device_memory_verdict device_memory_look(struct byte_source *source, struct error *why) {
    struct look look = begin(source, why);
    int verdict = look_at_first(&look);
    while (verdict == GO_ON) verdict = look_at_next(&look);
    return (enum device_memory_verdict)verdict;
}

bool device_memory_begins(struct byte_source *source, uint64_t most_bytes, struct error *error) {
    struct look look = begin(source, error);
    struct file_field field;
    bool is_seen = file_cursor_see(&look.cursor, &field, error);
    if (is_seen && is_of_pprof(&field) && field.payload_size <= most_bytes) return true;
    (void)(is_seen ? is_misfit(&look) : look.cursor.has_failed ? is_at_fault(&look) : is_at_end(&look));
    return false;
}
