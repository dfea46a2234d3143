#include "server/command/report_inventory.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/input/growing_array.h"
#include "analysis/input/program_index.h"
#include "server/text/printable.h"

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

struct byte_source *report_source_open(struct report_source *source, const struct input_file *file,
                                       struct error *error) {
    if (source->source && strcmp(source->path, file->path) == 0) return source->source;
    report_source_close(source);
    source->source = byte_source_open(file->path, error);
    source->path = file->path;
    struct file_version opened = source->source ? byte_source_version(source->source) : file->version;
    if (!file_version_equal(&opened, &file->version)) {
        error_set(error, ERROR_UNREADABLE, "The file changed while it was being read; run the report again.");
        report_source_close(source);
    }
    if (!source->source) error_in_file(error, file->path, 0);
    return source->source;
}

void report_source_close(struct report_source *source) {
    byte_source_close(source->source);
    *source = (struct report_source){0};
}

static bool index_file(const struct builder *b, const struct input_file *file, struct xspace_index *index,
                       struct error *error) {
    struct byte_source *source = report_source_open(b->source, file, error);
    if (!source) return false;
    return program_index_read(file, source, b->arena, index, error) || error_in_file(error, file->path, 0);
}

// --- Programs of a session ---

struct sighting {  // a program in one file
    const struct xspace_program *program;
    const struct input_file *file;
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
        hosts[i] = sightings[i].file->host;
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

static bool see_programs(struct builder *b, struct report_session *session, const struct input_file *file,
                         const struct xspace_index *index, struct sighting_list *list) {
    if (index->duplicate_count)
        fprintf(stderr, "hbmview: %s: left out %zu program(s) of a name that is there already\n",
                printable_text(bytes_of(file->path), b->arena), index->duplicate_count);
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
    struct sighting_list list = {0};
    for (size_t i = 0; i < files->file_count; i++) {
        struct xspace_index index = {0};
        struct error error;
        if (!index_file(b, &files->files[i], &index, &error)) {
            report_errors_add(b->errors, &error);
            session->has_errors = true;
        }
        if (!see_programs(b, session, &files->files[i], &index, &list)) return false;
    }
    b->module_count += session->program_count;
    return list.count == 0 || merge(b, session, list.items, list.count);
}

static bool read_session(struct builder *b, const struct catalog_session *found, struct report_session *session) {
    session->name = printable_text(bytes_of(found->name), b->arena);
    if (!read_files(b, session, &found->files)) return false;
    if (found->files.host_count > 1 && session->program_count > 0) b->inventory->has_several_hosts = true;
    return true;
}

// --- Sessions ---

static bool read_sessions(struct builder *b, const struct report_sessions *found) {
    struct report_inventory *inventory = b->inventory;
    inventory->sessions = arena_new(b->arena, struct report_session, found->count);
    if (!inventory->sessions) return out_of_memory(b);
    for (size_t i = 0; i < found->count; i++) {
        if (!read_session(b, &found->items[i], &inventory->sessions[inventory->session_count++]))
            return out_of_memory(b);
    }
    return true;
}

static void miss_module(const struct builder *b) {
    struct error error;
    error_set(&error, ERROR_NOT_FOUND,
              "There is no module \"%.160s\" among the %zu that are here; without --module the report lists them.",
              b->options->module, b->module_count);
    report_errors_add(b->errors, &error);
}

void report_inventory_read(const struct report_options *options, const struct report_sessions *sessions,
                           struct report_source *source, struct arena *arena, struct report_inventory *inventory,
                           struct report_errors *errors) {
    struct builder b = {options, source, arena, inventory, errors, 0};
    *inventory = (struct report_inventory){.arena = arena};
    if (!read_sessions(&b, sessions)) return;
    report_sessions_tell_missing(options, sessions, arena, errors);
    if (options->module && inventory->session_count && inventory->program_count == 0) miss_module(&b);
}
