#include "server/http/module_request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/app.h"

typedef bool find_in_session(struct request *request, struct module_request *asked, struct error *error);

// What is not among the files that were seen may still be there.
static bool open_and_find(struct request *request, const struct session_place *place, find_in_session *find,
                          struct module_request *asked, struct error *error) {
    struct store *store = request->app->store;
    if (!store_open_session(store, &request->work, place, STORE_LIST_SEEN, &asked->session, error)) return false;
    if (find(request, asked, error)) return true;
    return error->code == ERROR_NOT_FOUND &&
           store_open_session(store, &request->work, place, STORE_LIST_ANEW, &asked->session, error) &&
           find(request, asked, error);
}

static bool find_of_api(struct request *request, struct module_request *asked, struct error *error) {
    return module_store_find(&request->work, &asked->session, asked->host, asked->module, &asked->found, error);
}

bool module_request_of_api(struct request *request, struct module_request *asked, struct error *error) {
    struct session_place place = {0};
    *asked = (struct module_request){.host = request_query(request, "host")};
    return request_need(request, "session", &place.name, error) &&
           request_need(request, "module", &asked->module, error) &&
           request_int64(request, "memory_space", 0, &asked->space, error) &&
           open_and_find(request, &place, find_of_api, asked, error);
}

static const char *query_or(const struct request *request, const char *name, const char *otherwise) {
    const char *value = request_query(request, name);
    return value ? value : otherwise;
}

bool module_request_of_api_b(struct request *request, const struct module_request *a, struct module_request *asked,
                             struct error *error) {
    struct session_place place = {.name = query_or(request, "session_b", request_query(request, "session"))};
    bool is_elsewhere = request_query(request, "session_b") != NULL;
    *asked = (struct module_request){.space = a->space,
                                     .module = query_or(request, "module_b", a->module),
                                     .host = query_or(request, "host_b", is_elsewhere ? NULL : a->host)};
    return open_and_find(request, &place, find_of_api, asked, error);
}

struct session_place session_place_of_xprof(const struct request *request) {
    return (struct session_place){request_given(request, "run"), request_given(request, "session_path"),
                                  request_given(request, "run_path")};
}

static int64_t number_or_zero(const char *text) {
    if (!text) return 0;
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    return errno || end == text || *end ? 0 : value;
}

static bool check_host(const struct request *request, const struct session *session, struct error *error) {
    const char *host = request_given(request, "host");
    if (!host || session_host(session, host)) return true;
    return error_set(error, ERROR_NOT_FOUND, "No xplane file found for host: %.100s in run: %.100s", host,
                     session->name);
}

static const char *name_of_id(struct work *work, const struct xspace_index *index, const char *id) {
    for (size_t i = 0; i < index->program_count; i++) {
        const struct xspace_program *program = &index->programs[i];
        char digits[24];
        snprintf(digits, sizeof digits, "%" PRIu64, (uint64_t)program->program_id);
        if (program->has_program_id && strcmp(digits, id) == 0) return arena_string(&work->arena, program->name);
    }
    return NULL;
}

static const char *name_with_text(struct work *work, const struct xspace_index *index, const char *text) {
    for (size_t i = 0; i < index->program_count; i++) {
        const char *name = arena_string(&work->arena, index->programs[i].name);
        if (name && strstr(name, text)) return name;
    }
    return NULL;
}

// XProf looks for the program id anywhere in the names of its *.hlo_proto.pb files; here the program that has just this
// id comes first.
static const char *find_program(struct work *work, const struct session *session, const char *program_id,
                                struct error *error) {
    for (size_t i = 0; i < session->files.file_count; i++) {
        const struct input_file *file = file_store_look(work, session, i, error);
        const struct file_index *indexed = file ? module_store_index(work, file, error) : NULL;
        const char *name = indexed ? name_of_id(work, &indexed->index, program_id) : NULL;
        if (indexed && !name) name = name_with_text(work, &indexed->index, program_id);
        if (name) return name;
    }
    error_set(error, ERROR_NOT_FOUND, "No module of the run %.100s has \"%.60s\" (program_id) in its name.",
              session->name, program_id);
    return NULL;
}

static bool find_module_name(struct request *request, struct module_request *asked, struct error *error) {
    const char *program_id = request_query(request, "program_id");
    asked->module = request_query(request, "module_name");
    if ((!asked->module || !*asked->module) && program_id && *program_id) {
        asked->module = find_program(&request->work, &asked->session, program_id, error);
        return asked->module != NULL;
    }
    if (asked->module && *asked->module) return true;
    return error_set(error, ERROR_BAD_REQUEST, "Which module? Give module_name (see /module_list) or program_id.");
}

static bool find_of_xprof(struct request *request, struct module_request *asked, struct error *error) {
    return check_host(request, &asked->session, error) && find_module_name(request, asked, error) &&
           module_store_find(&request->work, &asked->session, NULL, asked->module, &asked->found, error);
}

bool module_request_of_xprof(struct request *request, struct module_request *asked, struct error *error) {
    const struct session_place place = session_place_of_xprof(request);
    *asked = (struct module_request){.space = number_or_zero(request_query(request, "memory_space"))};
    return open_and_find(request, &place, find_of_xprof, asked, error);
}

const char *module_request_key(struct request *request, const struct module_request *asked, const char *endpoint,
                               struct error *error) {
    const char *key = arena_printf(&request->work.arena, "%s %" PRId64 " %s %s\n%s", endpoint, asked->space,
                                   asked->found.key, asked->session.name, asked->module);
    if (!key) work_out_of_memory(error);
    return key;
}
