#include "analysis/input/device_memory_files.h"

#include <errno.h>
#include <sys/stat.h>

#include "analysis/input/file_cursor.h"
#include "analysis/input/growing_array.h"
#include "analysis/input/input_name.h"
#include "analysis/input/system_error.h"
#include "proto/pprof_fields.h"

enum { MAX_TYPES = 8, LONGEST_TYPE_BYTES = 22, MAX_PPROF_FIELD = 15 };

// --- The name ---

static bool cut_ending(struct bytes *name, struct bytes ending) {
    if (name->size <= ending.size || !bytes_ends_with(*name, ending)) return false;
    name->size -= ending.size;
    return true;
}

bool device_memory_name_fits(struct bytes file_name) {
    if (input_name_parse(file_name).kind != INPUT_NAME_OTHER) return false;
    (void)cut_ending(&file_name, BYTES(".gz"));
    if (bytes_ends_with(file_name, BYTES(".hlo_proto.pb"))) return false;  // XProf's NO_MODULE
    return cut_ending(&file_name, BYTES(".prof")) || cut_ending(&file_name, BYTES(".pprof")) ||
           cut_ending(&file_name, BYTES(".pb"));
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
    struct error ignored;
    size_t size = field->payload_size < BYTE_SOURCE_PEEK_BYTES ? (size_t)field->payload_size : BYTE_SOURCE_PEEK_BYTES;
    if (!byte_source_peek(look->source, field->payload_offset, size, &name, &ignored)) name.size = 0;
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
    struct error ignored;
    while (cursor.at < DEVICE_MEMORY_LOOK_BYTES) {
        enum file_cursor_step step = file_cursor_next(&cursor, &field, &ignored);
        if (step != FILE_CURSOR_FIELD) return step == FILE_CURSOR_ERROR && look->type_count > 0;
        if (!take_field(look, &field)) return false;
        if (look->name_count > look->last_name) return measures_space(look);
    }
    return true;
}

bool device_memory_content_fits(const char *path) {
    struct error ignored;
    struct look look = {.source = byte_source_open(path, &ignored)};
    if (!look.source) return false;
    bool fits = look_inside(&look);
    byte_source_close(look.source);
    return fits;
}

// --- Files ---

static bool out_of_memory(const char *path, struct error *error) {
    error_set(error, ERROR_TOO_BIG, "no memory left to list the device memory profiles");
    return error_in_file(error, path, 0);
}

// False when memory ran out; a file that went away, or is no profile, is passed over.
static bool take_file(char *path, const char *name, struct arena *arena, struct device_memory_files *files) {
    struct input_file file = {.path = path,
                              .name = arena_string(arena, bytes_of(name)),
                              .host = arena_string(arena, (struct bytes){0}),
                              .kind = PROFILE_FILE_DEVICE_MEMORY};
    if (!file.name || !file.host) return false;
    if (!file_version_of_file(path, &file.version) || !device_memory_content_fits(path)) return true;
    struct input_file *grown = growing_array_room(arena, files->files, files->file_count, sizeof *grown);
    if (!grown) return false;
    files->files = grown;
    grown[files->file_count++] = file;
    return true;
}

static bool leads_to_file(const struct folder_entry *entry, const char *path, const char *root) {
    if (entry->kind != FOLDER_ENTRY_LINK) return entry->kind == FOLDER_ENTRY_FILE;
    struct folder_link link = folder_follow_link(path, root);
    return link.kind == FOLDER_ENTRY_FILE && link.is_inside;
}

bool device_memory_files_any(const struct folder *folder) {
    for (size_t i = 0; i < folder->entry_count; i++) {
        if (device_memory_name_fits(bytes_of(folder->entries[i].name))) return true;
    }
    return false;
}

bool device_memory_files_in_folder(const struct folder *folder, const char *path, const char *root, struct arena *arena,
                                   struct device_memory_files *files, struct error *error) {
    *files = (struct device_memory_files){0};
    for (size_t i = 0; i < folder->entry_count; i++) {
        const struct folder_entry *entry = &folder->entries[i];
        if (!device_memory_name_fits(bytes_of(entry->name))) continue;
        char *file_path = folder_join(arena, path, entry->name);
        if (!file_path) return out_of_memory(path, error);
        if (leads_to_file(entry, file_path, root) && !take_file(file_path, entry->name, arena, files))
            return out_of_memory(path, error);
    }
    return true;
}

bool device_memory_files_list(const struct catalog_session *session, struct arena *arena,
                              struct device_memory_files *files, struct error *error) {
    struct stat status;
    struct folder folder;
    const char *slash = strrchr(session->path, '/'), *root = session->root ? session->root : session->path;
    *files = (struct device_memory_files){0};
    if (stat(session->path, &status) != 0) return system_error(error, errno, "find the session", session->path);
    if (S_ISDIR(status.st_mode))
        return folder_list(session->path, CATALOG_MAX_ENTRIES, arena, &folder, error) &&
               device_memory_files_in_folder(&folder, session->path, root, arena, files, error);
    const char *name = slash ? slash + 1 : session->path;
    if (input_name_parse(bytes_of(name)).kind != INPUT_NAME_OTHER) return true;
    return take_file(session->path, name, arena, files) || out_of_memory(session->path, error);
}
