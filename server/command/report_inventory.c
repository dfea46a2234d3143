#include "server/command/report_inventory.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/input/growing_array.h"
#include "server/store/module_list.h"
#include "server/text/printable.h"

enum { INDEX_CACHE_BYTES = 0 };  // what the work pins is kept all the same

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
    byte_source_close(source->source);
    source->source = file_store_open(file, error);
    source->path = file->path;
    return source->source;
}

void report_source_close(struct report_source *source) {
    byte_source_close(source->source);
    work_free(&source->work);
    cache_free(source->cache);
    *source = (struct report_source){0};
}

// --- Programs of a session ---

static bool is_wanted(const struct report_options *options, const struct xspace_program *program) {
    if (!options->module) return true;
    struct bytes module = bytes_of(options->module);
    return bytes_equal(program->name, module) || bytes_equal(program->module_name, module);
}

static bool add_program(struct builder *b, const struct report_session *session, const struct module_list *list,
                        const struct module_row *row) {
    struct report_inventory *inventory = b->inventory;
    struct report_program *grown = growing_array_room(b->arena, inventory->programs, inventory->program_count,
                                                      sizeof *grown);
    const char **hosts = arena_new(b->arena, const char *, row->host_count);
    if (!grown || !hosts) return false;
    for (uint32_t i = 0; i < row->host_count; i++) hosts[i] = list->hosts[row->hosts[i]].file->host;
    inventory->programs = grown;
    grown[inventory->program_count++] = (struct report_program){
        .session = session,
        .file = list->hosts[row->hosts[0]].file,
        .program = row->program,
        .name = printable_text(row->program->name, b->arena),
        .hosts = hosts,
        .host_count = row->host_count,
    };
    return true;
}

static int by_file_name(const void *left, const void *right) {
    const struct report_program *a = left, *b = right;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    return bytes_compare(a->program->name, b->program->name);
}

static bool add_programs(struct builder *b, const struct report_session *session, const struct module_list *list) {
    struct report_inventory *inventory = b->inventory;
    size_t first = inventory->program_count;
    for (size_t i = 0; i < list->row_count; i++) {
        if (is_wanted(b->options, list->rows[i].program) && !add_program(b, session, list, &list->rows[i]))
            return false;
    }
    if (inventory->program_count > first)
        qsort(&inventory->programs[first], inventory->program_count - first, sizeof *inventory->programs, by_file_name);
    return true;
}

static void tell_hosts(struct builder *b, struct report_session *session, const struct module_list *list) {
    size_t named = 0;
    for (size_t i = 0; i < list->host_count; i++) {
        const struct module_host *host = &list->hosts[i];
        session->program_count += host->module_count;
        named += host->file->host[0] != '\0';
        b->inventory->has_named_hosts |= host->file->kind == PROFILE_FILE_XPLANE;
        if (host->error) report_errors_add(b->errors, host->error);
        session->has_errors |= host->error != NULL;
        if (host->index && host->index->duplicate_count)
            fprintf(stderr, "hbmview: %s: left out %zu program(s) of a name that is there already\n",
                    printable_text(bytes_of(host->file->path), b->arena), host->index->duplicate_count);
    }
    b->module_count += session->program_count;
    if (named > 1 && session->program_count > 0) b->inventory->has_several_hosts = true;
}

static bool read_session(struct builder *b, const struct catalog_session *found, struct report_session *session) {
    const struct session opened = {found->name, found->version, found->files, true};
    struct module_list list;
    struct error error;
    session->name = printable_text(bytes_of(found->name), b->arena);
    if (!module_list_read(&b->source->work, &opened, &list, &error)) return false;
    tell_hosts(b, session, &list);
    return add_programs(b, session, &list);
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
    source->cache = cache_new(INDEX_CACHE_BYTES, 1);
    work_init(&source->work, source->cache);
    *inventory = (struct report_inventory){.arena = arena};
    if (!source->cache) out_of_memory(&b);
    if (!source->cache || !read_sessions(&b, sessions)) return;
    report_sessions_tell_missing(options, sessions, arena, errors);
    if (options->module && inventory->session_count && inventory->program_count == 0) miss_module(&b);
}
