#include "server/store/module_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/hlo/program_load.h"
#include "analysis/input/dump_files.h"
#include "analysis/input/program_index.h"
#include "server/embedded_assets.h"
#include "server/text/utf8.h"

enum { INDEX_ARENA_LIMIT_BYTES = 1 << 30, NAMES_SHOWN = 3, NAMES_TEXT_BYTES = 280 };
static const size_t MODULE_ARENA_LIMIT_BYTES = (size_t)4 << 30;

// --- Files ---

static const struct embedded_asset *sample_of(const struct input_file *file) {
    if (strcmp(file->path, EMBEDDED_SAMPLE_PATH) != 0) return NULL;
    for (size_t i = 0; i < embedded_asset_count; i++) {
        if (strcmp(embedded_assets[i].path, EMBEDDED_SAMPLE_PATH) == 0) return &embedded_assets[i];
    }
    return NULL;
}

struct byte_source *module_store_open(const struct input_file *file, struct error *error) {
    const struct embedded_asset *sample = sample_of(file);
    if (!sample) return byte_source_open(file->path, error);
    return byte_source_of_memory((struct bytes){sample->gzip, sample->gzip_size}, sample->path, error);
}

static bool identity_of(const struct input_file *file, struct file_identity *id, struct error *error) {
    *id = (struct file_identity){0};
    if (sample_of(file)) return true;
    struct stat status;
    if (stat(file->path, &status) != 0) {
        error_set(error, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_UNREADABLE, "The file cannot be read: %s.",
                  strerror(errno));
        return error_in_file(error, file->path, 0);
    }
    *id = (struct file_identity){(uint64_t)status.st_dev, (uint64_t)status.st_ino, (uint64_t)status.st_size,
                                 (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec};
    return true;
}

static bool identity_equal(struct file_identity a, struct file_identity b) {
    return a.device == b.device && a.inode == b.inode && a.size_bytes == b.size_bytes && a.modified_ns == b.modified_ns;
}

static const char *key_of(struct work *work, const char *kind, struct file_identity id, const char *path,
                          uint64_t offset, struct error *error) {
    const char *key = arena_printf(&work->arena, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s",
                                   kind, offset, id.device, id.inode, id.size_bytes, id.modified_ns, path);
    if (!key) work_out_of_memory(error);
    return key;
}

const char *module_store_file_key(struct work *work, const struct input_file *file, struct error *error) {
    struct file_identity id;
    return identity_of(file, &id, error) ? key_of(work, "file", id, file->path, 0, error) : NULL;
}

// --- The index of a file ---

struct loaded_index {
    struct arena arena;
    struct file_index file;
};

static void destroy_index(void *data) {
    struct loaded_index *loaded = data;
    arena_free(&loaded->arena);
    free(loaded);
}

// Whether a fault is the file's own, and so lasts as long as this version of the file does.
static bool is_of_content(enum error_code code) {
    return code == ERROR_TRUNCATED || code == ERROR_MALFORMED || code == ERROR_TOO_BIG;
}

static bool read_index(const struct input_file *file, struct loaded_index *loaded, struct error *error) {
    struct byte_source *source = module_store_open(file, error);
    if (!source) return error_in_file(error, file->path, 0);
    bool is_whole = program_index_read(file, source, &loaded->arena, &loaded->file.index, error);
    byte_source_close(source);
    if (is_whole) return true;
    error_in_file(error, file->path, 0);
    loaded->file.fault = *error;
    return is_of_content(error->code);
}

static bool load_index(void *context, struct cache_value *value, struct error *error) {
    const struct input_file *file = context;
    struct loaded_index *loaded = calloc(1, sizeof *loaded);
    if (!loaded) return work_out_of_memory(error);
    arena_init(&loaded->arena, INDEX_ARENA_LIMIT_BYTES);
    if (!read_index(file, loaded, error)) {
        destroy_index(loaded);
        return false;
    }
    *value = (struct cache_value){loaded, sizeof *loaded + loaded->arena.used_bytes, destroy_index};
    return true;
}

const struct file_index *module_store_index(struct work *work, const struct input_file *file, struct error *error) {
    struct file_identity id;
    const char *key = identity_of(file, &id, error) ? key_of(work, "index", id, file->path, 0, error) : NULL;
    if (!key) return NULL;
    struct input_file mine = *file;
    const struct loaded_index *loaded = work_get(work, key, load_index, &mine, error);
    return loaded ? &loaded->file : NULL;
}

// --- Finding a program ---

bool module_store_name(struct work *work, const struct input_file *file, const struct xspace_program *program,
                       struct found_module *found, struct error *error) {
    *found = (struct found_module){.file = file, .program = program};
    if (!identity_of(file, &found->identity, error)) return false;
    const char *stamp = dump_files_stamp(file->path, &work->arena);
    if (!stamp) return work_out_of_memory(error);
    const char *kind = *stamp ? arena_printf(&work->arena, "module%s", stamp) : "module";
    if (!kind) return work_out_of_memory(error);
    found->key = key_of(work, kind, found->identity, file->path, program->offset, error);
    return found->key != NULL;
}

static const struct xspace_program *program_of(const struct xspace_index *index, const char *name) {
    for (size_t i = 0; i < index->program_count; i++) {
        if (utf8_same_text(index->programs[i].name, name)) return &index->programs[i];
    }
    return NULL;
}

struct known_names {
    char text[NAMES_TEXT_BYTES];
    size_t size, shown, count;
};

static void add_known(struct known_names *known, struct bytes name) {
    known->count++;
    if (known->shown == NAMES_SHOWN) return;
    int length = name.size < 60 ? (int)name.size : 60;
    int added = snprintf(known->text + known->size, sizeof known->text - known->size, "%s%.*s",
                         known->shown ? ", " : "", length, (const char *)name.data);
    known->size += (size_t)added;
    known->shown++;
}

static bool no_such_host(const struct session *session, const char *host, struct error *error) {
    struct known_names known = {.text = ""};
    for (size_t i = 0; i < session->files.host_count; i++) add_known(&known, bytes_of(session->files.files[i].host));
    return error_set(error, ERROR_NOT_FOUND, "The session \"%.100s\" has no host \"%.100s\"; its %zu host(s): %s%s.",
                     session->name, host, known.count, known.text, known.count > known.shown ? ", ..." : "");
}

static bool no_such_module(const struct session *session, const char *name, const struct known_names *known,
                           struct error *error) {
    if (known->count == 0)
        return error_set(error, ERROR_NOT_FOUND, "The session \"%.100s\" holds no compiled program.", session->name);
    return error_set(error, ERROR_NOT_FOUND,
                     "The session \"%.100s\" has no module \"%.100s\"; its %zu module(s): %s%s.", session->name, name,
                     known->count, known->text, known->count > known->shown ? ", ..." : "");
}

// `before` was taken before the index was: a file that was replaced since must not be read by the old one's offsets.
static bool name_unchanged(struct work *work, const struct input_file *file, const struct xspace_program *program,
                           struct file_identity before, struct found_module *found, struct error *error) {
    if (!module_store_name(work, file, program, found, error)) return false;
    if (identity_equal(found->identity, before)) return true;
    error_set(error, ERROR_UNREADABLE, "The file changed while it was being read; reload the page.");
    return error_in_file(error, file->path, 0);
}

bool module_store_find(struct work *work, const struct session *session, const char *host, const char *name,
                       struct found_module *found, struct error *error) {
    struct known_names known = {.text = ""};
    struct error unreadable = {.code = ERROR_NONE};
    bool has_host = false;
    for (size_t i = 0; i < session->files.file_count; i++) {
        const struct input_file *file = &session->files.files[i];
        if (host && !utf8_same_text(bytes_of(file->host), host)) continue;
        has_host = true;
        struct file_identity before;
        const struct file_index *indexed = identity_of(file, &before, error) ? module_store_index(work, file, error)
                                                                             : NULL;
        if (!indexed) {
            unreadable = *error;
            continue;
        }
        if (indexed->fault.code != ERROR_NONE) unreadable = indexed->fault;
        const struct xspace_program *program = program_of(&indexed->index, name);
        if (program) return name_unchanged(work, file, program, before, found, error);
        for (size_t k = 0; k < indexed->index.program_count; k++) add_known(&known, indexed->index.programs[k].name);
    }
    if (host && !has_host) return no_such_host(session, host, error);
    if (unreadable.code == ERROR_NONE) return no_such_module(session, name, &known, error);
    *error = unreadable;
    return false;
}

// --- Loading it ---

struct loaded_module {
    struct arena arena;
    struct hlo_module module;
};

static void destroy_module(void *data) {
    struct loaded_module *loaded = data;
    arena_free(&loaded->arena);
    free(loaded);
}

bool module_store_read(const struct found_module *found, struct arena *arena, struct hlo_module *module,
                       struct error *error) {
    struct byte_source *source = module_store_open(found->file, error);
    if (!source) return error_in_file(error, found->file->path, 0);
    if (!sample_of(found->file) && !identity_equal(byte_source_identity(source), found->identity)) {
        byte_source_close(source);
        error_set(error, ERROR_UNREADABLE, "The file changed while it was being read; reload the page.");
        return error_in_file(error, found->file->path, 0);
    }
    bool is_good = program_load(found->file, found->program, source, arena, module, error);
    byte_source_close(source);
    return is_good;
}

static bool load_module(void *context, struct cache_value *value, struct error *error) {
    const struct found_module *found = context;
    struct loaded_module *loaded = calloc(1, sizeof *loaded);
    if (!loaded) return work_out_of_memory(error);
    arena_init(&loaded->arena, MODULE_ARENA_LIMIT_BYTES);
    if (!module_store_read(found, &loaded->arena, &loaded->module, error)) {
        destroy_module(loaded);
        return false;
    }
    *value = (struct cache_value){loaded, sizeof *loaded + loaded->arena.used_bytes, destroy_module};
    return true;
}

const struct hlo_module *module_store_load(struct work *work, const struct found_module *found, struct error *error) {
    struct found_module mine = *found;
    const struct loaded_module *loaded = work_get(work, found->key, load_module, &mine, error);
    return loaded ? &loaded->module : NULL;
}

const struct hlo_module *module_store_peek(struct work *work, const struct found_module *found) {
    const struct loaded_module *loaded = work_peek(work, found->key);
    return loaded ? &loaded->module : NULL;
}
