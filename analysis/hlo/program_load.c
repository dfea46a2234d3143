#include "analysis/hlo/program_load.h"

#include "analysis/hlo/hlo_load.h"
#include "analysis/hlo/hlo_text.h"
#include "analysis/input/dump_files.h"

static bool load_proto(const struct xspace_program *program, struct byte_source *source, struct arena *arena,
                       struct hlo_module *module, struct error *error) {
    struct bytes blob;
    const char *path = byte_source_path(source);
    return byte_source_load(source, program->offset, program->size_bytes, PROGRAM_LOAD_BYTES_MAX, arena, &blob,
                            error) &&
           (hlo_module_load(blob, arena, module, error) || error_in_file(error, path, (int64_t)program->offset));
}

static bool load_text(struct byte_source *source, struct arena *arena, struct hlo_text_file *text,
                      struct error *error) {
    uint64_t size;
    text->path = byte_source_path(source);
    return byte_source_size(source, &size, error) &&
           byte_source_load(source, 0, size, PROGRAM_LOAD_BYTES_MAX, arena, &text->text, error);
}

// The text of a part beside the file; none is fine.
static bool load_beside(const struct input_file *file, enum dump_part part, struct arena *arena,
                        struct hlo_text_file *text, struct error *error) {
    char *beside = dump_files_beside(file->storage, file->path, part, arena);
    *text = (struct hlo_text_file){0};
    if (!beside) return true;
    struct byte_source *source = byte_source_open(file->storage, beside, error);
    bool is_good = source && load_text(source, arena, text, error);
    byte_source_close(source);
    return is_good || error_in_file(error, beside, 0);
}

static bool load_dump(const struct input_file *file, struct byte_source *source, struct arena *arena,
                      struct hlo_module *module, struct error *error) {
    struct hlo_text texts = {0};
    return load_text(source, arena, &texts.assignment, error) &&
           load_beside(file, DUMP_PART_PROGRAM, arena, &texts.program, error) &&
           load_beside(file, DUMP_PART_VALUES, arena, &texts.values, error) &&
           load_beside(file, DUMP_PART_LIVE_RANGE, arena, &texts.live_range, error) &&
           hlo_text_load(&texts, arena, module, error);
}

bool program_load(const struct input_file *file, const struct xspace_program *program, struct byte_source *source,
                  struct arena *arena, struct hlo_module *module, struct error *error) {
    bool is_text = file->kind == PROFILE_FILE_DUMP_TEXT;
    bool is_good = is_text ? load_dump(file, source, arena, module, error)
                           : load_proto(program, source, arena, module, error);
    return is_good || error_in_file(error, file->path, 0);
}
