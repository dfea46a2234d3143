#include "server/api/api.h"

#include "analysis/base/steady_clock.h"
#include "server/document/profile_advice.h"
#include "server/document/profile_host.h"
#include "server/http/kept_reply.h"
#include "server/http/profile_request.h"
#include "server/store/module_list.h"
#include "server/store/peak_store.h"

// The hosts of a session may take minutes to read, so an answer tells of those that are known by then, and whoever asks
// again gets further. Nothing is read that nobody asks for.
enum { PATIENCE_MS = 250, NOTES_MAX = 64 };

// Neither: still to be read.
struct told_host {
    const struct profile_host *figures;
    const struct error *fault;  // that may be gone the next time
};

struct overview {
    const struct profile_request *asked;
    size_t first_host;   // to be read
    int64_t load_limit;  // hosts that may be read for this answer; -1: those there is time for, at least one
    struct work *work;
    struct told_host *hosts;  // NULL: not gathered yet
    size_t loading_count, fault_count;
    const char *advice;   // for hosts without events; NULL: not asked for yet
    struct error unsure;  // why the advice may lack something; ERROR_NONE: it does not
    const char *notes[NOTES_MAX];
    size_t note_count;
};

static void add_note(struct overview *overview, const char *text) {
    if (text && overview->note_count < NOTES_MAX) overview->notes[overview->note_count++] = text;
}

// --- Gathering ---

static bool may_load(const struct overview *overview, int64_t loaded, int64_t begun_ms) {
    if (overview->load_limit >= 0) return loaded < overview->load_limit;
    return loaded == 0 || steady_ms() - begun_ms < PATIENCE_MS;
}

// While the profile is at hand: the hosts may be compared next (api_across.c).
static void keep_peaks(struct overview *overview, const struct input_file *file) {
    struct error ignored;
    (void)!peak_store_of_profile(overview->work, file, &ignored);
}

static bool load_host(struct overview *overview, const struct input_file *file, struct told_host *host) {
    struct error *fault = arena_new(&overview->work->arena, struct error, 1);
    if (!fault) return false;
    host->figures = profile_host_load(overview->work, file, fault);
    if (!host->figures) host->fault = fault;
    if (host->figures && overview->asked->session.files.host_count > 1) keep_peaks(overview, file);
    overview->fault_count += host->fault != NULL;
    return true;
}

// The host that is asked for comes first, the others as they are listed.
static size_t host_of_turn(const struct overview *overview, size_t turn) {
    if (turn == 0) return overview->first_host;
    return turn <= overview->first_host ? turn - 1 : turn;
}

// NULL: *error is filled.
static struct told_host *gather(struct overview *overview, struct error *error) {
    const struct session_files *files = &overview->asked->session.files;
    struct told_host *hosts = arena_new(&overview->work->arena, struct told_host, files->host_count + 1);
    int64_t begun_ms = steady_ms(), loaded = 0;
    bool is_good = hosts || work_out_of_memory(error);
    for (size_t i = 0; is_good && i < files->host_count; i++)
        hosts[i].figures = profile_host_known(overview->work, &files->files[i]);
    for (size_t turn = 0; is_good && turn < files->host_count; turn++) {
        size_t i = host_of_turn(overview, turn);
        if (hosts[i].figures) continue;
        if (may_load(overview, loaded, begun_ms) && !load_host(overview, &files->files[i], &hosts[i]))
            is_good = work_out_of_memory(error);
        loaded += hosts[i].figures != NULL;
        overview->loading_count += !hosts[i].figures && !hosts[i].fault;
    }
    return is_good ? hosts : NULL;
}

// --- A host ---

static const char *advice_of(struct overview *overview, const struct told_host *host) {
    if (!host->figures || !host->figures->lacks_events) return "";
    if (!overview->advice)
        overview->advice = profile_advice(
            module_list_has_any(overview->work, &overview->asked->session, &overview->unsure));
    return overview->advice;
}

static void write_host(struct overview *overview, const char *name, const struct told_host *host,
                       struct json_writer *w) {
    json_open_object(w);
    json_write_text_key(w, "host", name);
    if (host->figures) add_note(overview, host->figures->note);
    if (host->figures)
        json_write_members(w, host->figures->members);
    else
        profile_host_write_blank(host->fault, w);
    json_write_text_key(w, "advice", advice_of(overview, host));
    json_close_object(w);
}

// --- The session ---

static void note_unsure(struct overview *overview) {
    if (overview->unsure.code == ERROR_NONE) return;
    add_note(overview,
             arena_printf(&overview->work->arena, "Whether this session holds compiled programs cannot be told now: %s",
                          overview->unsure.message));
}

static void write_notes(struct overview *overview, struct json_writer *w) {
    size_t host_count = overview->asked->session.files.host_count, with_events = 0;
    for (size_t i = 0; i < host_count; i++) {
        const struct profile_host *figures = overview->hosts[i].figures;
        with_events += figures && figures->has_events;
    }
    if (host_count == 0) add_note(overview, profile_no_file_note);
    if (with_events > 1) add_note(overview, profile_clocks_note);
    note_unsure(overview);
    json_write_texts_key(w, "notes", overview->notes, overview->note_count);
}

static void write_session(struct overview *overview, struct json_writer *w) {
    const struct session *session = &overview->asked->session;
    overview->note_count = 0;
    json_open_object(w);
    json_write_text_key(w, "session", session->name);
    json_write_bool_key(w, "complete", overview->loading_count == 0);
    json_open_array_key(w, "hosts");
    for (size_t i = 0; i < session->files.host_count; i++)
        write_host(overview, session->files.files[i].host, &overview->hosts[i], w);
    json_close_array(w);
    write_notes(overview, w);
    json_close_object(w);
}

// Kept is what stays true while the files are these versions.
static bool write_kept(struct work *work, void *context, struct json_writer *w, struct error *error) {
    struct overview *overview = context;
    (void)work;
    overview->hosts = gather(overview, error);
    if (!overview->hosts) return false;
    if (overview->loading_count || overview->fault_count)
        return error_set(error, ERROR_UNREADABLE, "Not every host of the session has been read.");
    write_session(overview, w);
    if (overview->unsure.code == ERROR_NONE) return true;
    return error_set(error, ERROR_UNREADABLE, "Not every file of the session has been looked at.");
}

static bool write_now(struct request *request, struct overview *overview, struct reply *reply, struct error *error) {
    struct output *output = reply_output(request, error);
    if (output && !overview->hosts) overview->hosts = gather(overview, error);
    if (!output || !overview->hosts) return false;
    struct json_writer w = json_writer_on(output);
    write_session(overview, &w);
    return reply_written(reply, REPLY_JSON, output, error);
}

bool api_profile_overview(struct request *request, struct reply *reply, struct error *error) {
    struct profile_request asked;
    struct overview overview = {.asked = &asked, .work = &request->work};
    if (!request_int64(request, "load", -1, &overview.load_limit, error) ||
        !profile_request_read_all(request, &asked, error))
        return false;
    const char *first = request_query(request, "first");
    const struct input_file *host = first ? session_host(&asked.session, first) : NULL;
    if (host) overview.first_host = (size_t)(host - asked.session.files.files);
    const char *key = profile_request_key(request, &asked, "profile_overview", error);
    if (key && kept_reply(request, key, REPLY_JSON, write_kept, &overview, reply, error)) return true;
    return !file_store_is_lasting(error) && write_now(request, &overview, reply, error);
}
