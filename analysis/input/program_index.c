#include "analysis/input/program_index.h"

#include "analysis/input/dump_name.h"
#include "analysis/input/xspace_read.h"

static bool no_memory(struct error *error) {
    return error_set(error, ERROR_TOO_BIG, "no memory left to index the file");
}

static bool is_assignment(struct byte_source *source, struct error *error) {
    struct bytes head;
    if (!byte_source_peek(source, 0, sizeof "BufferAssignment:" - 1, &head, error)) return false;
    if (bytes_equal(head, BYTES("BufferAssignment:"))) return true;
    return error_in(error, head.size ? ERROR_MALFORMED : ERROR_TRUNCATED, byte_source_path(source), 0,
                    "expected a buffer assignment in text, whose first line is \"BufferAssignment:\"");
}

// The text is one program; how much of it is right shows when it is loaded.
static bool index_text(const struct input_file *file, struct byte_source *source, struct arena *arena,
                       struct xspace_index *index, struct error *error) {
    struct dump_name name = dump_name_parse(bytes_of(file->name));
    *index = (struct xspace_index){.programs = arena_new(arena, struct xspace_program, 1)};
    struct bytes module = {(const uint8_t *)arena_string(arena, name.module), name.module.size};
    if (!index->programs || !module.data) return no_memory(error);
    if (!is_assignment(source, error)) return false;
    index->programs[0] = (struct xspace_program){.name = module, .module_name = module};
    index->program_count = 1;
    return byte_source_size(source, &index->programs[0].size_bytes, error);
}

// A dump's module has the name that the folder's list gave it, and the number of the dump for an id.
static bool name_program(const struct input_file *file, struct arena *arena, struct xspace_program *program,
                         struct error *error) {
    struct bytes name = bytes_of(file->program);
    program->name = (struct bytes){(const uint8_t *)arena_string(arena, name), name.size};
    program->has_program_id = true;
    program->program_id = (int64_t)dump_name_parse(bytes_of(file->name)).number;
    return program->name.data || no_memory(error);
}

bool program_index_read(const struct input_file *file, struct byte_source *source, struct arena *arena,
                        struct xspace_index *index, struct error *error) {
    if (file->kind == PROFILE_FILE_XPLANE) return xspace_index_read(source, arena, index, error);
    bool is_good = file->kind == PROFILE_FILE_DUMP_TEXT ? index_text(file, source, arena, index, error)
                                                        : xspace_index_hlo_file(source, arena, index, error);
    if (file->program && index->program_count)
        is_good = name_program(file, arena, &index->programs[0], error) && is_good;
    return is_good;
}
