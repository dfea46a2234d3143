#include "server/report/report_inventory.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/input/growing_array.h"
#include "analysis/input/profile_name.h"
#include "analysis/input/program_index.h"
#include "analysis/input/run_names.h"
#include "server/report/printable.h"

enum { NAMES_SHOWN = 3, NAMES_TEXT_BYTES = 256 };

struct builder {
    const struct report_options *options;
    struct report_source *source;
    struct arena *arena;
    struct report_inventory *inventory;
    struct report_errors *errors;
    size_t module_count;  // before --module
};

static bool out_of_memory(const struct builder *b) {
    struct error error;
    error_set(&error, ERROR_TOO_BIG,
              "There is not enough memory for the list of programs; give a folder further down.");
    report_errors_add(b->errors, &error);
    return false;
}

// --- Files ---

struct byte_source *report_source_open(struct report_source *source, const char *path, struct error *error) {
    if (source->source && strcmp(source->path, path) == 0) return source->source;
    report_source_close(source);
    source->source = byte_source_open(path, error);
    source->path = path;
    if (!source->source) error_in_file(error, path, 0);
    return source->source;
}

void report_source_close(struct report_source *source) {
    byte_source_close(source->source);
    *source = (struct report_source){0};
}

static bool index_file(const struct builder *b, struct report_file *file, struct xspace_index *index,
                       struct error *error) {
    struct byte_source *source = report_source_open(b->source, file->file->path, error);
    if (!source) return false;
    file->identity = byte_source_identity(source);
    return program_index_read(file->file, source, b->arena, index, error) || error_in_file(error, file->file->path, 0);
}

// --- Programs of a session ---

struct sighting {  // a program in one file
    const struct xspace_program *program;
    const struct report_file *file;
};

static int by_name_size_file(const void *left, const void *right) {
    const struct sighting *a = left, *b = right;
    int order = bytes_compare(a->program->name, b->program->name);
    if (order) return order;
    if (a->program->size_bytes != b->program->size_bytes)
        return a->program->size_bytes < b->program->size_bytes ? -1 : 1;
    return (a->file > b->file) - (a->file < b->file);
}

static int by_file_name(const void *left, const void *right) {
    const struct report_program *a = left, *b = right;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    return bytes_compare(a->program->name, b->program->name);
}

static bool is_wanted(const struct report_options *options, const struct xspace_program *program) {
    if (!options->module) return true;
    struct bytes module = bytes_of(options->module);
    return bytes_equal(program->name, module) || bytes_equal(program->module_name, module);
}

static bool is_same(const struct report_program *program, const struct sighting *sighting) {
    return program->program->size_bytes == sighting->program->size_bytes &&
           bytes_equal(program->program->name, sighting->program->name);
}

static bool add_program(struct builder *b, const struct report_session *session, const struct sighting *sighting,
                        const char **hosts) {
    struct report_inventory *inventory = b->inventory;
    struct report_program *grown = growing_array_room(b->arena, inventory->programs, inventory->program_count,
                                                      sizeof *grown);
    if (!grown) return false;
    inventory->programs = grown;
    grown[inventory->program_count++] = (struct report_program){
        .session = session,
        .file = sighting->file,
        .program = sighting->program,
        .name = printable_text(sighting->program->name, b->arena),
        .hosts = hosts,
    };
    return true;
}

// Equal sightings lie side by side; their hosts become those of one program.
static bool merge(struct builder *b, const struct report_session *session, struct sighting *sightings, size_t count) {
    size_t first = b->inventory->program_count;
    const char **hosts = arena_new(b->arena, const char *, count);
    if (!hosts) return false;
    qsort(sightings, count, sizeof sightings[0], by_name_size_file);
    for (size_t i = 0; i < count; i++) {
        size_t last = b->inventory->program_count;
        if ((last == first || !is_same(&b->inventory->programs[last - 1], &sightings[i])) &&
            !add_program(b, session, &sightings[i], &hosts[i]))
            return false;
        hosts[i] = sightings[i].file->file->host;
        b->inventory->programs[b->inventory->program_count - 1].host_count++;
    }
    if (count == 0) return true;
    qsort(&b->inventory->programs[first], b->inventory->program_count - first, sizeof(struct report_program),
          by_file_name);
    return true;
}

struct sighting_list {
    struct sighting *items;
    size_t count;
};

static bool see_programs(struct builder *b, struct report_session *session, const struct report_file *file,
                         const struct xspace_index *index, struct sighting_list *list) {
    if (index->duplicate_count)
        fprintf(stderr, "hbmview: %s: left out %zu program(s) of a name that is there already\n",
                printable_text(bytes_of(file->file->path), b->arena), index->duplicate_count);
    session->program_count += index->program_count;
    for (size_t i = 0; i < index->program_count; i++) {
        if (!is_wanted(b->options, &index->programs[i])) continue;
        struct sighting *grown = growing_array_room(b->arena, list->items, list->count, sizeof *grown);
        if (!grown) return false;
        list->items = grown;
        grown[list->count++] = (struct sighting){&index->programs[i], file};
    }
    return true;
}

static bool read_files(struct builder *b, struct report_session *session, const struct session_files *files) {
    struct report_file *kept = arena_new(b->arena, struct report_file, files->file_count);
    struct sighting_list list = {0};
    if (!kept) return false;
    for (size_t i = 0; i < files->file_count; i++) {
        struct xspace_index index = {0};
        struct error error;
        kept[i].file = &files->files[i];
        if (!index_file(b, &kept[i], &index, &error)) {
            report_errors_add(b->errors, &error);
            session->has_errors = true;
        }
        if (!see_programs(b, session, &kept[i], &index, &list)) return false;
    }
    b->module_count += session->program_count;
    return list.count == 0 || merge(b, session, list.items, list.count);
}

static bool read_session(struct builder *b, const struct catalog_session *found, struct report_session *session) {
    struct error error;
    struct session_files *files = arena_new(b->arena, struct session_files, 1);
    session->name = printable_text(bytes_of(found->name), b->arena);
    if (!files) return false;
    if (!session_files_list(found, b->arena, files, &error)) {
        report_errors_add(b->errors, &error);
        session->has_errors = true;
        return true;
    }
    if (!read_files(b, session, files)) return false;
    if (files->host_count > 1 && session->program_count > 0) b->inventory->has_several_hosts = true;
    return true;
}

// --- Sessions ---

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// A session that is still being written has no entry in the catalog, but what it has so far can be told.
static bool session_of_pending(const struct catalog *catalog, const char *path, struct arena *arena,
                               struct catalog_session *session) {
    bool is_file = strcmp(path, catalog->root) == 0 && profile_name_parse(bytes_of(last_part(path))).kind;
    *session = (struct catalog_session){.path = arena_string(arena, bytes_of(path)), .root = catalog->root};
    session->name = is_file ? arena_string(arena, profile_name_parse(bytes_of(last_part(path))).stem)
                            : run_names_make(catalog->root, path, arena);
    return session->name && session->path;
}

static int newest_first(const void *left, const void *right) {
    const struct catalog_session *a = left, *b = right;
    return strcmp(b->name, a->name);
}

// All sessions of the catalog, the pending ones among them.
static bool all_sessions(const struct builder *b, const struct catalog *catalog, struct catalog_session **sessions,
                         size_t *count) {
    *count = catalog->session_count + catalog->pending_count;
    *sessions = arena_new(b->arena, struct catalog_session, *count);
    if (!*sessions) return false;
    if (catalog->session_count)
        memcpy(*sessions, catalog->sessions, catalog->session_count * sizeof catalog->sessions[0]);
    for (size_t i = 0; i < catalog->pending_count; i++) {
        if (!session_of_pending(catalog, catalog->pending[i].path, b->arena, &(*sessions)[catalog->session_count + i]))
            return false;
    }
    if (catalog->pending_count) qsort(*sessions, *count, sizeof **sessions, newest_first);
    return true;
}

static bool read_sessions(struct builder *b, const struct catalog *catalog) {
    struct report_inventory *inventory = b->inventory;
    struct catalog_session *all;
    size_t count;
    if (!all_sessions(b, catalog, &all, &count)) return out_of_memory(b);
    inventory->sessions = arena_new(b->arena, struct report_session, count);
    if (!inventory->sessions) return out_of_memory(b);
    for (size_t i = 0; i < count; i++) {
        if (b->options->session && strcmp(all[i].name, b->options->session) != 0) continue;
        if (!read_session(b, &all[i], &inventory->sessions[inventory->session_count++])) return out_of_memory(b);
    }
    return true;
}

// --- What is missing ---

// What the scan passed over is said; what it could not open is an error.
static void tell_left_out(const struct builder *b, const struct catalog *catalog) {
    for (size_t i = 0; i < catalog->left_out_count; i++) {
        const struct catalog_remark *remark = &catalog->left_out[i];
        struct error error;
        if (access(remark->path, R_OK) == 0) {
            fprintf(stderr, "hbmview: %s: left out: %s\n", printable_text(bytes_of(remark->path), b->arena),
                    printable_text(bytes_of(remark->reason), b->arena));
            continue;
        }
        error_set(&error, ERROR_UNREADABLE, "%s", remark->reason);
        error_in_file(&error, remark->path, 0);
        report_errors_add(b->errors, &error);
    }
}

struct known_names {
    char text[NAMES_TEXT_BYTES];
    size_t size, count;
};

static void add_known(struct known_names *known, const char *name) {
    if (known->count++ >= NAMES_SHOWN) return;
    int added = snprintf(known->text + known->size, sizeof known->text - known->size, "%s%.60s",
                         known->size ? ", " : "", name);
    known->size += (size_t)added;
}

static void miss_session(const struct builder *b, const struct catalog *catalog) {
    struct known_names known = {.text = ""};
    struct error error;
    for (size_t i = 0; i < catalog->session_count; i++) add_known(&known, catalog->sessions[i].name);
    if (known.count)
        error_set(&error, ERROR_NOT_FOUND, "There is no session \"%.160s\"; there are %zu: %s%s.", b->options->session,
                  known.count, known.text, known.count > NAMES_SHOWN ? ", ..." : "");
    else
        error_set(&error, ERROR_NOT_FOUND, "There is no session \"%.160s\", nor any other.", b->options->session);
    report_errors_add(b->errors, &error);
}

static void miss_module(const struct builder *b) {
    struct error error;
    error_set(&error, ERROR_NOT_FOUND,
              "There is no module \"%.160s\" among the %zu that are here; without --module the report lists them.",
              b->options->module, b->module_count);
    report_errors_add(b->errors, &error);
}

static void miss_everything(const struct builder *b, const struct catalog *catalog) {
    struct error error;
    error_set(&error, ERROR_NOT_FOUND,
              "There are no profiles here; give a log folder (one that holds plugins/profile), a session folder, a "
              "folder that --xla_dump_to filled, or a *.xplane.pb, *.hlo_proto.pb or *.hlo.pb file.");
    error_in_file(&error, catalog->root, 0);
    report_errors_add(b->errors, &error);
}

static void tell_missing(const struct builder *b, const struct catalog *catalog) {
    const struct report_inventory *inventory = b->inventory;
    tell_left_out(b, catalog);
    if (b->options->session && inventory->session_count == 0)
        miss_session(b, catalog);
    else if (inventory->session_count == 0)
        miss_everything(b, catalog);
    else if (b->options->module && inventory->program_count == 0)
        miss_module(b);
}

void report_inventory_read(const struct report_options *options, struct report_source *source, struct arena *arena,
                           struct report_inventory *inventory, struct report_errors *errors) {
    struct builder b = {options, source, arena, inventory, errors, 0};
    struct catalog catalog;
    struct error error;
    *inventory = (struct report_inventory){.arena = arena};
    if (!catalog_scan(options->path, arena, &catalog, &error)) {
        report_errors_add(errors, &error);
        return;
    }
    if (read_sessions(&b, &catalog)) tell_missing(&b, &catalog);
}
