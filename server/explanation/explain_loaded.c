#include "server/explanation/explain_loaded.h"

#include <string.h>

#include "server/explanation/explain_totals.h"

struct loading {
    struct explain_sessions *from;
    struct bytes failing;  // the program's name
    struct oom_loaded *loaded;
};

static bool is_failing(const struct loading *loading, const struct xspace_program *program) {
    return bytes_equal(program->name, loading->failing) || bytes_equal(program->module_name, loading->failing);
}

static void add(const struct loading *loading, const struct input_file *file, const struct xspace_program *program) {
    struct oom_loaded *loaded = loading->loaded;
    struct work work;
    struct found_module found;
    struct error error;
    struct memory_totals totals;
    const char *name = arena_string(&loading->from->work->arena, program->name);
    work_init_for(&work, loading->from->work);
    bool is_read = !explain_is_late(loading->from) && module_store_name(&work, file, program, &found, &error) &&
                   explain_totals_of(&work, &found, &totals, &error);
    if (is_read && totals.total_bytes != OOM_ABSENT && name)
        loaded->programs[loaded->count++] = oom_loaded_program_of(name, &totals, is_failing(loading, program));
    else
        loaded->unread++;
    work_free(&work);
}

static bool is_of_host(const struct module_list *modules, const struct module_row *row, const char *host) {
    for (uint32_t i = 0; i < row->host_count; i++) {
        if (strcmp(modules->hosts[row->hosts[i]].file->host, host) == 0) return true;
    }
    return false;
}

static void add_all(const struct loading *loading, const struct module_list *modules) {
    for (size_t i = 0; i < modules->row_count; i++) {
        const struct module_row *row = &modules->rows[i];
        if (!is_of_host(modules, row, loading->loaded->host)) continue;
        add(loading, modules->hosts[row->hosts[0]].file, row->program);
    }
}

void explain_loaded(struct explain_joins *joins, const struct oom_message *message, const struct explain_join *join,
                    struct oom_loaded *loaded) {
    const char *name = join ? join->session : joins->asked.session;
    const char *failing = join ? join->module : message->module;
    *loaded = (struct oom_loaded){0};
    if (message->kind != OOM_PROGRAM_LOAD || !joins->sessions.store || !name) return;
    if (!failing || !failing[0]) return;  // else it would be among those that can be evicted for it
    const struct explain_session *session = explain_session_of(&joins->sessions, name);
    if (!session || !session->modules.row_count) return;
    const struct module_list *modules = &session->modules;
    loaded->programs = arena_new(&joins->sessions.work->arena, struct oom_loaded_program, modules->row_count);
    if (!loaded->programs) return;
    loaded->session = session->name;
    loaded->host = join ? join->host : modules->hosts[modules->rows[0].hosts[0]].file->host;
    struct loading loading = {&joins->sessions, bytes_of(failing), loaded};
    add_all(&loading, modules);
    oom_loaded_sum(message, &joins->sessions.work->arena, loaded);
}
