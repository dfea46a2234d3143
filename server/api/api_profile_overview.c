#include "server/api/api.h"

#include "analysis/profile/questions/timeline_window.h"
#include "server/document/profile_advice.h"
#include "server/document/profile_memory_json.h"
#include "server/http/kept_reply.h"
#include "server/http/profile_request.h"
#include "server/store/module_store.h"
#include "server/text/error_json.h"

static const size_t MEMORY_SCRATCH_LIMIT_BYTES = (size_t)2 << 30;

enum { NOTES_MAX = 64 };

struct overview {
    const struct profile_request *asked;
    struct cache *cache;
    struct arena *arena;
    bool is_kept;  // the reply goes into the cache
    bool knows_programs, has_programs;
    size_t hosts_with_events;
    const char *notes[NOTES_MAX];
    size_t note_count;
};

static void add_note(struct overview *overview, const char *text) {
    if (text && overview->note_count < NOTES_MAX) overview->notes[overview->note_count++] = text;
}

// --- A host without events ---

static bool has_programs(const struct overview *overview) {
    const struct session_files *files = &overview->asked->session.files;
    struct work work;
    struct error ignored;
    bool found = false;
    work_init(&work, overview->cache);
    for (size_t i = 0; i < files->file_count && !found; i++) {
        const struct input_file *now = file_store_look(&work, &overview->asked->session, i, &ignored);
        const struct file_index *file = now ? module_store_index(&work, now, &ignored) : NULL;
        found = file && file->index.program_count;
    }
    work_free(&work);
    return found;
}

static bool session_has_programs(struct overview *overview) {
    if (!overview->knows_programs) overview->has_programs = has_programs(overview);
    overview->knows_programs = true;
    return overview->has_programs;
}

static const char *state_of(const struct memory_profile *profile) {
    if (profile->timeline_count) return "events";
    if (profile->fault.code != ERROR_NONE) return "error";
    return profile->has_host_plane ? "no_events" : "no_host_plane";
}

static void write_reason(struct overview *overview, const struct memory_profile *profile, struct json_writer *w) {
    bool is_missing = profile->timeline_count == 0 && profile->fault.code == ERROR_NONE;
    json_write_text_key(w, "reason", is_missing ? profile_reason(profile, overview->arena) : "");
    json_write_text_key(w, "advice", is_missing ? profile_advice(session_has_programs(overview)) : "");
}

// --- A host ---

static void stretch(int64_t *begin_ps, int64_t *end_ps, int64_t from_ps, int64_t to_ps) {
    if (from_ps < *begin_ps) *begin_ps = from_ps;
    if (to_ps > *end_ps) *end_ps = to_ps;
}

static void write_span(const struct memory_profile *profile, struct json_writer *w) {
    int64_t begin_ps = 0, end_ps = 0, from_ps, to_ps;
    for (size_t i = 0; i < profile->timeline_count; i++) {
        timeline_whole(&profile->timelines[i], &from_ps, &to_ps);
        stretch(&begin_ps, &end_ps, from_ps, to_ps);
    }
    for (size_t i = 0; i < profile->step_count; i++)
        stretch(&begin_ps, &end_ps, profile->steps[i].begin_ps, profile->steps[i].end_ps);
    for (size_t i = 0; i < profile->module_run_count; i++)
        stretch(&begin_ps, &end_ps, profile->module_runs[i].begin_ps, profile->module_runs[i].end_ps);
    json_write_int64_key(w, "begin_ps", begin_ps);
    json_write_int64_key(w, "end_ps", end_ps);
}

static bool write_memory(const struct memory_profile *profile, const struct memory_timeline *timeline,
                         struct json_writer *w, struct error *error) {
    struct arena scratch;
    struct profile_memory memory;
    arena_init(&scratch, MEMORY_SCRATCH_LIMIT_BYTES);
    bool is_good = profile_memory_make(profile, timeline, &scratch, &memory, error);
    if (is_good) profile_memory_write(&memory, w);
    arena_free(&scratch);
    return is_good;
}

static bool write_memories(const struct memory_profile *profile, struct json_writer *w, struct error *error) {
    json_key(w, "memories");
    json_open_array(w);
    for (size_t i = 0; i < profile->timeline_count; i++) {
        if (!write_memory(profile, &profile->timelines[i], w, error)) return false;
    }
    json_close_array(w);
    return true;
}

static bool write_profile(struct overview *overview, const struct input_file *file,
                          const struct memory_profile *profile, struct json_writer *w, struct error *error) {
    overview->hosts_with_events += profile->timeline_count != 0;
    add_note(overview, profile_left_out(profile, file->host, overview->arena));
    json_key(w, "error");
    error_json_write(w, profile->fault.code == ERROR_NONE ? NULL : &profile->fault);
    json_write_text_key(w, "state", state_of(profile));
    json_write_int64_key(w, "events", (int64_t)profile->event_count);
    json_write_int64_key(w, "other_events", (int64_t)profile->other_event_count);
    json_write_int64_key(w, "left_out_events", (int64_t)profile->left_out_count);
    json_write_int64_key(w, "steps", (int64_t)profile->step_count);
    json_write_int64_key(w, "module_runs", (int64_t)profile->module_run_count);
    write_span(profile, w);
    write_reason(overview, profile, w);
    return write_memories(profile, w, error);
}

static bool write_unreadable(struct overview *overview, const struct error *fault, struct json_writer *w,
                             struct error *error) {
    static const struct memory_profile none = {0};
    if (overview->is_kept && !file_store_is_lasting(fault)) {
        *error = *fault;
        return false;
    }
    json_key(w, "error");
    error_json_write(w, fault);
    json_write_text_key(w, "state", "error");
    static const char *const counts[] = {"events", "other_events", "left_out_events", "steps", "module_runs"};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) json_write_int64_key(w, counts[i], 0);
    write_span(&none, w);
    json_write_text_key(w, "reason", fault->message);
    json_write_text_key(w, "advice", "");
    return write_memories(&none, w, error);
}

// Its profile is let go before the next host's is loaded.
static bool write_host(struct overview *overview, const struct input_file *file, struct json_writer *w,
                       struct error *error) {
    struct work work;
    struct error fault;
    work_init(&work, overview->cache);
    json_open_object(w);
    json_write_text_key(w, "host", file->host);
    const struct memory_profile *profile = profile_store_load(&work, file, &fault);
    bool is_good = profile ? write_profile(overview, file, profile, w, error)
                           : write_unreadable(overview, &fault, w, error);
    json_close_object(w);
    work_free(&work);
    return is_good;
}

// --- The session ---

static void write_notes(struct overview *overview, struct json_writer *w) {
    size_t host_count = overview->asked->session.files.host_count;
    if (host_count == 0)
        add_note(overview, "This session has no .xplane.pb file: memory over time is recorded in those only.");
    if (overview->hosts_with_events > 1)
        add_note(overview,
                 "Times count from the start of each host's own profile; the hosts' clocks are not compared.");
    json_key(w, "notes");
    json_open_array(w);
    for (size_t i = 0; i < overview->note_count; i++) json_write_text(w, overview->notes[i]);
    json_close_array(w);
}

static bool write_session(struct overview *overview, struct json_writer *w, struct error *error) {
    const struct session *session = &overview->asked->session;
    json_open_object(w);
    json_write_text_key(w, "session", session->name);
    json_key(w, "hosts");
    json_open_array(w);
    for (size_t i = 0; i < session->files.host_count; i++) {
        if (!write_host(overview, &session->files.files[i], w, error)) return false;
    }
    json_close_array(w);
    write_notes(overview, w);
    json_close_object(w);
    return true;
}

static bool write_kept(struct work *work, void *context, struct output *output, struct error *error) {
    struct overview overview = {.asked = context, .cache = work->cache, .arena = &work->arena, .is_kept = true};
    struct json_writer w = json_writer_on(output);
    return write_session(&overview, &w, error);
}

static bool write_now(struct request *request, const struct profile_request *asked, struct reply *reply,
                      struct error *error) {
    struct work *work = &request->work;
    struct overview overview = {.asked = asked, .cache = work->cache, .arena = &work->arena};
    struct output *output = reply_output(request, error);
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    return write_session(&overview, &w, error) && reply_written(reply, REPLY_JSON, output, error);
}

bool api_profile_overview(struct request *request, struct reply *reply, struct error *error) {
    struct profile_request asked;
    if (!profile_request_read_all(request, &asked, error)) return false;
    const char *key = profile_request_key(request, &asked, "profile_overview", error);
    if (key && kept_reply(request, key, REPLY_JSON, write_kept, &asked, reply, error)) return true;
    return !file_store_is_lasting(error) && write_now(request, &asked, reply, error);
}
