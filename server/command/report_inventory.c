#include "server/command/report_inventory.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/base/growing_array.h"
#include "server/store/module_list.h"
#include "server/text/printable.h"

struct builder {
    struct report *report;
    struct report_inventory *inventory;
    struct arena *arena;
    size_t module_count;  // before --module
};

// --- Programs of a session ---

static bool is_wanted(const struct report_options *options, const struct xspace_program *program) {
    if (!options->module) return true;
    struct bytes module = bytes_of(options->module);
    return bytes_equal(program->name, module) || bytes_equal(program->module_name, module);
}

static bool add_program(struct builder *b, const struct report_session *session, const struct module_list *list,
                        const struct module_row *row) {
    struct report_inventory *inventory = b->inventory;
    const char **hosts = arena_new(b->arena, const char *, row->host_count);
    if (!hosts) return false;
    for (uint32_t i = 0; i < row->host_count; i++) hosts[i] = list->hosts[row->hosts[i]].file->host;
    struct report_program program = {
        .session = session,
        .file = list->hosts[row->hosts[0]].file,
        .program = row->program,
        .name = printable_text(row->program->name, b->arena),
        .hosts = hosts,
        .host_count = row->host_count,
        .family = row->family,
        .is_of_pod = list->host_count > 1 && list->hosts[0].file->kind == PROFILE_FILE_XPLANE,
    };
    return growing_array_add(b->arena, inventory->programs, inventory->program_count, program);
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
        if (is_wanted(&b->report->options, list->rows[i].program) && !add_program(b, session, list, &list->rows[i]))
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
        if (host->error) report_errors_add(&b->report->errors, host->error);
        session->has_errors |= host->error != NULL;
        if (!host->index || !host->index->duplicate_count) continue;
        progress_hide(b->report->options.progress);
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
    if (!module_list_read(&b->report->work, &opened, &list, &error)) return false;
    tell_hosts(b, session, &list);
    return add_programs(b, session, &list);
}

// --- Sessions ---

static bool read_sessions(struct builder *b) {
    struct report_inventory *inventory = b->inventory;
    inventory->sessions = arena_new(b->arena, struct report_session, b->report->session_count);
    if (!inventory->sessions) return false;
    for (size_t i = 0; i < b->report->session_count; i++) {
        progress_step(b->report->options.progress, "session", i + 1, b->report->session_count);
        if (!read_session(b, &b->report->sessions[i], &inventory->sessions[inventory->session_count++])) return false;
    }
    return true;
}

void report_inventory_read(struct report *report, struct report_inventory *inventory) {
    struct builder b = {report, inventory, &report->work.arena, 0};
    const char *module = report->options.module;
    *inventory = (struct report_inventory){0};
    if (!read_sessions(&b)) {
        report_errors_say(&report->errors, ERROR_TOO_BIG, NULL,
                          "There is not enough memory for the list of programs; give a folder further down.");
        return;
    }
    report_tell_missing(report);
    if (module && inventory->session_count && inventory->program_count == 0)
        report_errors_say(
            &report->errors, ERROR_NOT_FOUND, NULL,
            "There is no module \"%.160s\" among the %zu that are here; without --module the report lists "
            "them.",
            module, b.module_count);
}
