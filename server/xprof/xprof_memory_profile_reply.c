#include "server/xprof/xprof.h"

#include "server/app.h"
#include "server/http/kept_reply.h"
#include "server/http/module_request.h"
#include "server/store/profile_store.h"
#include "server/xprof/xprof_memory_profile.h"

// --- Which host ---

static const struct input_file *only_host(const struct session *session, struct error *error) {
    size_t count = session->files.host_count;
    if (count == 1) return &session->files.files[0];
    if (count == 0)
        error_set(error, ERROR_NOT_FOUND, "No xplane file found for run: %.100s, tool: memory_profile", session->name);
    else
        error_set(error, ERROR_NOT_FOUND, "Which host? The run %.100s has %zu; give host (see /hosts).", session->name,
                  count);
    return NULL;
}

static const struct input_file *find_host(const struct session *session, const char *host, struct error *error) {
    if (!host || !*host) return only_host(session, error);
    const struct input_file *file = session_host(session, host);
    if (!file)
        error_set(error, ERROR_NOT_FOUND, "No xplane file found for host: %.100s in run: %.100s", host, session->name);
    return file;
}

static const struct input_file *find_file(struct request *request, struct error *error) {
    const struct session_place place = session_place_of_xprof(request);
    struct session session;
    if (!store_open_session(request->app->store, &request->work, &place, STORE_LIST_ANEW, &session, error)) return NULL;
    const char *hosts = request_query(request, "hosts"), *host = request_query(request, "host");
    if (hosts && *hosts && !(host && *host)) {
        error_set(error, ERROR_NOT_FOUND, "The Memory Profile is of one host: give host, not hosts.");
        return NULL;
    }
    return find_host(&session, host, error);
}

// --- The answer ---

// XProf refuses a file that is cut or damaged, and its JSON has no word for "up to here": so do we.
static bool write_json(struct work *work, void *context, struct json_writer *w, struct error *error) {
    const struct input_file *file = context;
    const struct memory_profile *profile = profile_store_load(work, file, error);
    if (!profile) return false;
    if (profile->fault.code != ERROR_NONE) {
        *error = profile->fault;
        return error_in_file(error, file->path, 0);
    }
    if (!profile->has_host_plane) return true;
    return xprof_memory_profile_write(profile, w, error);
}

bool xprof_memory_profile_reply(struct request *request, struct reply *reply, struct error *error) {
    const struct input_file *file = find_file(request, error);
    const char *key = file ? file_store_key(&request->work, "xprof_memory_profile", file, error) : NULL;
    if (!key) return false;
    struct input_file asked = *file;
    return kept_reply(request, key, REPLY_JSON, write_json, &asked, reply, error);
}
