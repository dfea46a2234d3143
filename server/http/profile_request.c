#include "server/http/profile_request.h"

#include <string.h>

#include "server/app.h"
#include "server/text/known_names.h"
#include "server/text/utf8.h"

static const char *given(const struct request *request, const char *name) {
    const char *value = request_query(request, name);
    return value && *value ? value : NULL;
}

static bool is_asked(const struct profile_request *asked, const struct input_file *file) {
    if (file->kind != PROFILE_FILE_XPLANE) return false;
    return !asked->host || utf8_same_text(bytes_of(file->host), asked->host);
}

static const struct input_file *next_file(const struct profile_request *asked, size_t *at) {
    while (*at < asked->session.files.file_count) {
        const struct input_file *file = &asked->session.files.files[(*at)++];
        if (is_asked(asked, file)) return file;
    }
    return NULL;
}

static bool unknown_host(struct request *request, const struct profile_request *asked, struct error *error) {
    struct profile_request any = {.session = asked->session};
    struct arena *arena = &request->work.arena;
    struct known_names known = {.count = 0};
    size_t at = 0;
    for (const struct input_file *file; (file = next_file(&any, &at));)
        known_names_add(&known, bytes_of(file->host), arena);
    return error_set(error, ERROR_NOT_FOUND, "The session %.60s has no host \"%.60s\"; it has %.200s.",
                     asked->session.name, asked->host, known_names_text(&known, KNOWN_NAMES_MAX, arena));
}

// From here on the files that may be meant are of the version that they have now. One that went away keeps the version
// that it had: opening it says so, and hides no other host.
static bool look_at_files(struct work *work, struct profile_request *asked, struct error *error) {
    struct session_files *files = &asked->session.files;
    struct input_file *now = arena_new(&work->arena, struct input_file, files->file_count + 1);
    if (!now) return work_out_of_memory(error);
    for (size_t i = 0; i < files->file_count; i++) {
        struct error gone;
        const struct input_file *file = &files->files[i];
        const struct input_file *looked = is_asked(asked, file) ? file_store_look(work, &asked->session, i, &gone)
                                                                : NULL;
        now[i] = looked ? *looked : *file;
    }
    files->files = now;
    return true;
}

static bool read_place(struct request *request, struct profile_request *asked, struct error *error) {
    struct session_place place = {0};
    *asked = (struct profile_request){.host = given(request, "host"), .memory_id = request_query(request, "memory_id")};
    if (!request_need(request, "session", &place.name, error)) return false;
    static const enum store_listing listings[] = {STORE_LIST_SEEN, STORE_LIST_ANEW};
    for (size_t i = 0; i < sizeof listings / sizeof listings[0]; i++) {
        if (!store_open_session(request->app->store, &request->work, &place, listings[i], &asked->session, error))
            return false;
        size_t at = 0;
        if (!asked->host || next_file(asked, &at)) return true;
    }
    return unknown_host(request, asked, error);
}

bool profile_request_read(struct request *request, struct profile_request *asked, struct error *error) {
    return read_place(request, asked, error) && look_at_files(&request->work, asked, error);
}

bool profile_request_read_all(struct request *request, struct profile_request *asked, struct error *error) {
    if (!read_place(request, asked, error)) return false;
    asked->host = NULL;
    return look_at_files(&request->work, asked, error);
}

// --- Keys ---

// With its sizes, so that no value can pass for another argument.
static bool join(struct arena *arena, const char **key, const char *a, const char *b) {
    *key = arena_printf(arena, "%s\n%zu:%s %zu:%s", *key, strlen(a), a, strlen(b), b);
    return *key != NULL;
}

const char *profile_request_key(struct request *request, const struct profile_request *asked, const char *endpoint,
                                struct error *error) {
    struct arena *arena = &request->work.arena;
    const char *key = endpoint;
    bool ok = true;
    for (size_t i = 0; ok && i < request->query_count; i++) {
        const struct request_argument *argument = &request->query[i];
        if (strcmp(argument->name, "token") != 0) ok = join(arena, &key, argument->name, argument->value);
    }
    size_t at = 0;
    for (const struct input_file *file; ok && (file = next_file(asked, &at));) {
        const char *file_key = file_store_key(&request->work, "profile", file, error);
        if (!file_key) return NULL;
        ok = join(arena, &key, file->host, file_key);
    }
    if (ok) return key;
    work_out_of_memory(error);
    return NULL;
}

// --- Finding the memory ---

static const struct memory_timeline *named(const struct memory_profile *profile, const char *memory_id) {
    for (size_t i = 0; i < profile->timeline_count; i++) {
        if (utf8_same_text(profile->timelines[i].memory_id, memory_id)) return &profile->timelines[i];
    }
    return NULL;
}

static bool unknown_memory(struct work *work, const struct profile_request *asked, const struct profile_found *found,
                           struct error *error) {
    struct known_names known = {.count = 0};
    for (size_t i = 0; i < found->profile->timeline_count; i++)
        known_names_add(&known, found->profile->timelines[i].memory_id, &work->arena);
    return error_set(error, ERROR_NOT_FOUND, "Host %.60s has no memory id \"%.60s\"; it has %.200s.", found->file->host,
                     asked->memory_id, known_names_text(&known, KNOWN_NAMES_MAX, &work->arena));
}

static bool no_events(const struct profile_request *asked, struct error *error) {
    return error_set(error, ERROR_NOT_FOUND,
                     "No memory events (MemoryAllocation, MemoryDeallocation) in the plane /host:CPU of %.60s%.60s in "
                     "session %.60s. Profile with host_tracer_level >= 2 on a GPU or TPU to record them.",
                     asked->host ? "host " : "any host", asked->host ? asked->host : "", asked->session.name);
}

static bool pick_timeline(struct work *work, const struct profile_request *asked, struct profile_found *found,
                          struct error *error) {
    if (!asked->memory_id) {
        found->timeline = &found->profile->timelines[found->profile->highest_timeline];
        return true;
    }
    found->timeline = named(found->profile, asked->memory_id);
    return found->timeline ? true : unknown_memory(work, asked, found, error);
}

// The error of a file that cannot be read stands only when no other file answers.
bool profile_request_load(struct work *work, const struct profile_request *asked, struct profile_found *found,
                          struct error *error) {
    size_t at = 0;
    bool has_error = false;
    for (const struct input_file *file; (file = next_file(asked, &at));) {
        struct error reason;
        *found = (struct profile_found){.file = file};
        found->profile = profile_store_load(work, file, &reason);
        if (!found->profile && !has_error) *error = reason;
        has_error |= !found->profile;
        if (!found->profile || found->profile->timeline_count == 0) continue;
        return pick_timeline(work, asked, found, error);
    }
    return has_error ? false : no_events(asked, error);
}
