// The programs of the fixtures, one after the other, for tests that promise something of each:
//
//     fixture_programs_visit("tests/fixtures/logdir", check, &seen)
//         -> check(file, program, source, &seen)      program_load(file, program, source, ...) loads it
//
// What they are listed with lives until the visit ends. A file that holds no program is passed over.
#pragma once

#include "analysis/hlo/program_load.h"
#include "analysis/input/byte_source.h"
#include "analysis/input/catalog.h"
#include "analysis/input/local_storage.h"
#include "analysis/input/program_index.h"
#include "tests/unit/cmocka_all.h"

typedef void fixture_program(const struct input_file *file, const struct xspace_program *program,
                             struct byte_source *source, void *context);

static inline void fixture_file_visit(const struct input_file *file, struct arena *arena, fixture_program *visit,
                                      void *context) {
    struct error error;
    struct xspace_index index;
    struct byte_source *source = byte_source_open(file->storage, file->path, &error);
    assert_non_null(source);
    bool is_good = program_index_read(file, source, arena, &index, &error);
    for (size_t i = 0; is_good && i < index.program_count; i++) visit(file, &index.programs[i], source, context);
    byte_source_close(source);
}

static inline void fixture_programs_visit(const char *root, fixture_program *visit, void *context) {
    struct arena arena;
    struct catalog catalog;
    struct error error;
    arena_init(&arena, 0);
    if (!catalog_scan(local_storage(), root, &arena, &catalog, &error)) fail_msg("%s: %s", root, error.message);
    for (size_t s = 0; s < catalog.session_count; s++) {
        const struct session_files *files = &catalog.sessions[s].files;
        for (size_t i = 0; i < files->file_count; i++) fixture_file_visit(&files->files[i], &arena, visit, context);
    }
    arena_free(&arena);
}
