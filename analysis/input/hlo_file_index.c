// xspace_index_hlo_file: a file that is one HloProto, as an index of one program.
#include "analysis/input/file_cursor.h"
#include "analysis/input/metadata_plane.h"
#include "analysis/input/input_name.h"
#include "analysis/input/xspace_read.h"
#include "proto/hlo_fields.h"

static bool not_hlo(struct byte_source *source, struct error *error) {
    return error_in(error, ERROR_MALFORMED, byte_source_path(source), 0,
                    "expected an HloProto, found no hlo_module in the file");
}

// Walks the file's fields to its end: is it whole, and does it hold a module?
static bool check_whole(struct byte_source *source, uint64_t *size_bytes, struct error *error) {
    struct file_cursor cursor = file_cursor_over(source);
    struct file_field field;
    bool has_module = false;
    while (file_cursor_next(&cursor, &field, error))
        has_module = has_module || (field.number == HLO_PROTO_MODULE && field.type == WIRE_LEN);
    *size_bytes = cursor.at;
    if (cursor.has_failed) return false;
    return has_module ? true : not_hlo(source, error);
}

static struct bytes file_stem(const struct byte_source *source) {
    const char *path = byte_source_path(source), *slash = strrchr(path, '/');
    return input_name_parse(bytes_of(slash ? slash + 1 : path)).stem;
}

static bool load_module_name(struct byte_source *source, uint64_t size_bytes, struct arena *arena, struct bytes *name,
                             struct error *error) {
    struct file_field field;
    *name = (struct bytes){0};
    if (!metadata_plane_module_name(source, 0, size_bytes, &field, error)) return false;
    if (field.payload_size == 0) return true;
    return byte_source_load(source, field.payload_offset, field.payload_size, XSPACE_MAX_NAME_BYTES, arena, name,
                            error);
}

// "jit_f(36).hlo_proto.pb" tells name and program; any other file is named by the module inside, else by itself.
static bool name_program(struct byte_source *source, struct arena *arena, struct xspace_program *program,
                         struct error *error) {
    struct bytes stem = file_stem(source);
    struct program_name parsed = program_name_parse(stem);
    struct bytes inside;
    if (!load_module_name(source, program->size_bytes, arena, &inside, error)) return false;
    program->has_program_id = parsed.has_id;
    program->program_id = parsed.has_id ? parsed.program_id : -1;
    program->module_name = inside.size ? inside : parsed.module;
    program->name = parsed.has_id || inside.size == 0 ? stem : inside;
    return true;
}

static bool keep_copies(struct arena *arena, struct xspace_program *program) {
    program->name.data = (const uint8_t *)arena_string(arena, program->name);
    program->module_name.data = (const uint8_t *)arena_string(arena, program->module_name);
    return program->name.data && program->module_name.data;
}

bool xspace_index_hlo_file(struct byte_source *source, struct arena *arena, struct xspace_index *index,
                           struct error *error) {
    *index = (struct xspace_index){0};
    struct xspace_program *program = arena_new(arena, struct xspace_program, 1);
    if (!program) return error_set(error, ERROR_TOO_BIG, "no memory left to index the file");
    if (!check_whole(source, &program->size_bytes, error)) return false;
    if (!name_program(source, arena, program, error)) return false;
    if (!keep_copies(arena, program)) return error_set(error, ERROR_TOO_BIG, "no memory left to index the file");
    index->programs = program;
    index->program_count = 1;
    return true;
}
