#include "analysis/input/device_memory_files.h"

#include "analysis/base/text_scan.h"
#include "analysis/input/file_cursor.h"
#include "analysis/input/file_stamp.h"
#include "analysis/input/input_name.h"
#include "proto/pprof_fields.h"

enum { MAX_TYPES = 8, LONGEST_TYPE_BYTES = 22, MAX_PPROF_FIELD = 15 };

// --- The name ---

bool device_memory_name_fits(struct bytes file_name) {
    if (input_name_parse(file_name).kind != INPUT_NAME_OTHER) return false;
    (void)text_cut_ending(&file_name, BYTES(".gz"));
    if (bytes_ends_with(file_name, BYTES(".hlo_proto.pb"))) return false;  // XProf's NO_MODULE
    return text_cut_ending(&file_name, BYTES(".prof")) || text_cut_ending(&file_name, BYTES(".pprof")) ||
           text_cut_ending(&file_name, BYTES(".pb"));
}

// --- The content ---

struct type_names {  // string indexes
    uint64_t type, unit;
    bool is_space, is_bytes;
};

struct look {
    struct byte_source *source;
    struct type_names types[MAX_TYPES];
    size_t type_count;
    uint64_t name_count;  // names passed so far
    uint64_t last_name;   // the largest index among the types
    struct error why;     // the last that could not be read
};

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
    struct error ignored;
    struct type_names names;
    if (field->payload_size > LONGEST_TYPE_BYTES || look->type_count == MAX_TYPES) return false;
    if (!byte_source_peek(look->source, field->payload_offset, (size_t)field->payload_size, &message, &ignored) ||
        message.size != field->payload_size || !is_type(message, &names))
        return false;
    look->types[look->type_count++] = names;
    uint64_t last = names.type > names.unit ? names.type : names.unit;
    if (last > look->last_name) look->last_name = last;
    return true;
}

static void take_name(struct look *look, const struct file_field *field) {
    struct bytes name = {0};
    size_t size = field->payload_size < BYTE_SOURCE_PEEK_BYTES ? (size_t)field->payload_size : BYTE_SOURCE_PEEK_BYTES;
    if (!byte_source_peek(look->source, field->payload_offset, size, &name, &look->why)) name.size = 0;
    for (size_t i = 0; i < look->type_count; i++) {
        if (look->types[i].type == look->name_count) look->types[i].is_space = bytes_equal(name, BYTES("space"));
        if (look->types[i].unit == look->name_count) look->types[i].is_bytes = bytes_equal(name, BYTES("bytes"));
    }
    look->name_count++;
}

static bool measures_space(const struct look *look) {
    for (size_t i = 0; i < look->type_count; i++) {
        if (look->types[i].is_space && look->types[i].is_bytes) return true;
    }
    return false;
}

// False where the field belongs to no pprof.
static bool take_field(struct look *look, const struct file_field *field) {
    bool is_message = field->number <= PPROF_STRING_TABLE;
    if (field->number > MAX_PPROF_FIELD || (is_message && field->type != WIRE_LEN)) return false;
    if (look->type_count == 0 && field->number != PPROF_SAMPLE_TYPE) return false;
    if (field->number == PPROF_SAMPLE_TYPE) return look->name_count == 0 && take_type(look, field);
    if (field->number == PPROF_STRING_TABLE) take_name(look, field);
    return true;
}

static bool look_inside(struct look *look) {
    struct file_cursor cursor = file_cursor_over(look->source);
    struct file_field field;
    while (cursor.at < DEVICE_MEMORY_LOOK_BYTES) {
        if (!file_cursor_next(&cursor, &field, &look->why)) return cursor.has_failed && look->type_count > 0;
        if (!take_field(look, &field)) return false;
        if (look->name_count > look->last_name) return measures_space(look);
    }
    return true;
}

// Nobody knows what is in it: whoever opens it learns why.
static bool is_unreadable(const struct error *why) {
    return why->code == ERROR_UNREADABLE || why->code == ERROR_NO_MEMORY;
}

bool device_memory_content_fits(const struct storage *storage, const char *path) {
    struct look look = {.why.code = ERROR_NONE};
    look.source = byte_source_open(storage, path, &look.why);
    if (!look.source) return is_unreadable(&look.why);
    bool fits = look_inside(&look) || is_unreadable(&look.why);
    byte_source_close(look.source);
    return fits;
}

bool device_memory_files_any(const struct folder *folder) {
    for (size_t i = 0; i < folder->entry_count; i++) {
        if (device_memory_name_fits(bytes_of(folder->entries[i].name))) return true;
    }
    return false;
}

uint64_t device_memory_files_stamp(const struct folder *folder, const struct storage *storage, const char *path,
                                   struct arena *scratch) {
    uint64_t stamp = FILE_STAMP_OF_NONE;
    for (size_t i = 0; i < folder->entry_count; i++) {
        const struct folder_entry *entry = &folder->entries[i];
        if (!device_memory_name_fits(bytes_of(entry->name))) continue;
        const char *file = folder_join(scratch, path, entry->name);
        struct file_version version;
        if (file && storage_look_at_file(storage, file, STORAGE_SEE_LINKS, &version))
            stamp = file_stamp_with(stamp, entry->name, &version);
    }
    return stamp;
}
