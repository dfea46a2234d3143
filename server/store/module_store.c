#include "server/store/module_store.h"

#include <inttypes.h>

#include "analysis/hlo/program_load.h"
#include "analysis/input/dump_files.h"
#include "analysis/input/program_index.h"
#include "server/text/known_names.h"
#include "server/text/utf8.h"

enum { INDEX_ARENA_LIMIT_BYTES = 1 << 30 };

// --- The index of a file ---

static bool fill_index(const struct filling *from, void *thing, struct error *error) {
    struct file_index *file = thing;
    if (program_index_read(from->file, from->source, from->arena, &file->index, error)) return true;
    if (!file_store_is_lasting(error)) return false;
    struct error *fault = arena_new(from->arena, struct error, 1);
    if (!fault) return false;
    error_in_file(error, from->file->path, 0);
    *fault = *error;
    file->fault = fault;
    return true;
}

static const struct stored_kind index_kind = {.name = "index",
                                              .thing_bytes = sizeof(struct file_index),
                                              .arena_limit_bytes = INDEX_ARENA_LIMIT_BYTES,
                                              .is_light = true,
                                              .fill = fill_index};

const struct file_index *module_store_index(struct work *work, const struct input_file *file, struct error *error) {
    const char *key = file_store_key(work, index_kind.name, file, error);
    return key ? file_store_get(work, &index_kind, key, file, NULL, error) : NULL;
}

// --- Finding a program ---

bool module_store_name(struct work *work, const struct input_file *file, const struct xspace_program *program,
                       struct found_module *found, struct error *error) {
    *found = (struct found_module){.file = file, .program = program};
    const char *stamp = dump_files_stamp(file->storage, file->path, &work->arena);
    const char *kind = stamp ? arena_printf(&work->arena, "module %" PRIu64 "%s", program->offset, stamp) : NULL;
    if (!kind) return work_out_of_memory(error);
    found->key = file_store_key(work, kind, file, error);
    return found->key != NULL;
}

static const struct xspace_program *program_of(const struct xspace_index *index, const char *name) {
    for (size_t i = 0; i < index->program_count; i++) {
        if (utf8_same_text(index->programs[i].name, name)) return &index->programs[i];
    }
    return NULL;
}

static bool no_such_host(struct work *work, const struct session *session, const char *host, struct error *error) {
    struct known_names known = {.count = 0};
    for (size_t i = 0; i < session->files.file_count; i++) {
        const struct input_file *file = &session->files.files[i];
        known_names_add(&known, bytes_of(file->host[0] ? file->host : file->name), &work->arena);
    }
    return error_set(error, ERROR_NOT_FOUND, "The session \"%.100s\" has no host \"%.100s\"; its %zu host(s): %.250s.",
                     session->name, host, known.count, known_names_text(&known, KNOWN_NAMES_FEW, &work->arena));
}

static bool no_such_module(struct work *work, const struct session *session, const char *name,
                           const struct known_names *known, struct error *error) {
    if (known->count == 0)
        return error_set(error, ERROR_NOT_FOUND, "The session \"%.100s\" holds no compiled program.", session->name);
    return error_set(error, ERROR_NOT_FOUND,
                     "The session \"%.100s\" has no module \"%.100s\"; its %zu module(s): %.250s.", session->name, name,
                     known->count, known_names_text(known, KNOWN_NAMES_FEW, &work->arena));
}

// A file may be meant by its own name as well.
static bool is_called(const struct input_file *file, const char *host) {
    return utf8_same_text(bytes_of(file->host), host) || utf8_same_text(bytes_of(file->name), host);
}

bool module_store_find(struct work *work, const struct session *session, const char *host, const char *name,
                       struct found_module *found, struct error *error) {
    struct known_names known = {.count = 0};
    struct error unreadable = {.code = ERROR_NONE};
    bool has_host = false;
    for (size_t i = 0; i < session->files.file_count; i++) {
        const struct input_file *file = &session->files.files[i];
        if (host && !is_called(file, host)) continue;
        has_host = true;
        if (file->program && !utf8_same_text(bytes_of(file->program), name)) {  // of a dump: none need be opened
            known_names_add(&known, bytes_of(file->program), &work->arena);
            continue;
        }
        const struct input_file *now = file_store_look(work, session, i, error);
        const struct file_index *indexed = now ? module_store_index(work, now, error) : NULL;
        if (!indexed) {
            unreadable = *error;
            continue;
        }
        if (indexed->fault) unreadable = *indexed->fault;
        const struct xspace_program *program = program_of(&indexed->index, name);
        if (program) return module_store_name(work, now, program, found, error);
        for (size_t k = 0; k < indexed->index.program_count; k++)
            known_names_add(&known, indexed->index.programs[k].name, &work->arena);
    }
    if (host && !has_host) return no_such_host(work, session, host, error);
    if (unreadable.code == ERROR_NONE) return no_such_module(work, session, name, &known, error);
    *error = unreadable;
    return false;
}

// --- Loading it ---

static bool fill_module(const struct filling *from, void *thing, struct error *error) {
    return program_load(from->file, from->of, from->source, from->arena, thing, error);
}

static uint64_t needed_bytes(const void *of) {
    const struct xspace_program *program = of;
    return program->size_bytes;
}

static const struct stored_kind module_kind = {.name = "module",
                                               .thing_bytes = sizeof(struct hlo_module),
                                               .arena_limit_bytes = (size_t)4 << 30,
                                               .needed_bytes = needed_bytes,
                                               .fill = fill_module};

const struct hlo_module *module_store_load(struct work *work, const struct found_module *found, struct error *error) {
    return file_store_get(work, &module_kind, found->key, found->file, found->program, error);
}
