// All hosts of a session side by side. They may take minutes to read, so an answer tells of those that are known by
// then, and whoever asks again gets further.
#include <stdatomic.h>

#include "server/api/api.h"
#include "analysis/base/steady_clock.h"
#include "server/app.h"
#include "server/document/across_document.h"
#include "server/http/profile_request.h"
#include "server/store/peak_store.h"
#include "server/store/work_each.h"

enum { PATIENCE_MS = 1000 };

struct gathering {
    const struct input_file *files;
    size_t file_count;
    peak_store_load *load;
    peak_store_known *known;
    struct across_host *hosts;
    const struct memory_peaks **peaks;
    atomic_bool has_loaded;
    int64_t begun_ms;
};

// One at least, then those there is time for.
static bool may_load(struct gathering *gathering) {
    return !atomic_exchange(&gathering->has_loaded, true) || steady_ms() - gathering->begun_ms < PATIENCE_MS;
}

static void load_host(struct work *work, struct gathering *gathering, size_t i) {
    struct error error, *kept;
    gathering->peaks[i] = gathering->load(work, &gathering->files[i], &error);
    if (gathering->peaks[i] || !(kept = arena_new(&work->arena, struct error, 1))) return;
    *kept = error;
    gathering->hosts[i].fault = kept;
}

// Whoever waited for the slot until time was over leaves the host to the next request.
static void read_host(struct work *work, void *context, size_t i) {
    struct gathering *gathering = context;
    gathering->peaks[i] = gathering->known(work, &gathering->files[i]);
    if (!gathering->peaks[i] && work_may_load(work)) {
        struct load_wish wish = file_store_wish(&gathering->files[i]), outer;
        cache_take_slot(work->cache, wish, work->reading, &outer);
        if (may_load(gathering)) load_host(work, gathering, i);
        cache_give_slot(work->cache, wish, &outer);
    }
    const struct memory_peaks *peaks = gathering->peaks[i];
    if (peaks && peaks->fault.code != ERROR_NONE) gathering->hosts[i].fault = &peaks->fault;
}

static bool gather(struct work *work, struct gathering *gathering, struct error *error) {
    gathering->hosts = arena_new(&work->arena, struct across_host, gathering->file_count + 1);
    gathering->peaks = arena_new(&work->arena, const struct memory_peaks *, gathering->file_count + 1);
    if (!gathering->hosts || !gathering->peaks) return work_out_of_memory(error);
    gathering->begun_ms = steady_ms();
    for (size_t i = 0; i < gathering->file_count; i++) {
        const struct input_file *file = &gathering->files[i];
        gathering->hosts[i].name = file->host[0] ? file->host : file->name;
    }
    return work_each(work, read_host, gathering, gathering->file_count) || work_out_of_memory(error);
}

static bool answer(struct request *request, const char *session, struct gathering *gathering, struct reply *reply,
                   struct error *error) {
    struct work *work = &request->work;
    struct across across;
    if (!gather(work, gathering, error)) return false;
    if (!across_make(gathering->hosts, gathering->peaks, gathering->file_count, &work->arena, &across, error))
        return false;
    struct output *output = reply_output(request, error);
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    json_write_text_key(&w, "session", session);
    if (!across_write(&across, &work->arena, &w, error)) return false;
    json_close_object(&w);
    return reply_written(reply, REPLY_JSON, output, error);
}

bool api_profile_across(struct request *request, struct reply *reply, struct error *error) {
    struct profile_request asked;
    if (!profile_request_read_all(request, &asked, error)) return false;
    struct gathering gathering = {.files = asked.session.files.files,
                                  .file_count = asked.session.files.host_count,
                                  .load = peak_store_of_profile,
                                  .known = peak_store_known_of_profile};
    return answer(request, asked.session.name, &gathering, reply, error);
}

bool api_device_memory_across(struct request *request, struct reply *reply, struct error *error) {
    struct session_place place = {0};
    struct session session;
    if (!request_need(request, "session", &place.name, error) ||
        !store_open_session(request->app->store, &request->work, &place, STORE_LIST_DEVICE_MEMORY, &session, error))
        return false;
    struct gathering gathering = {.files = session.files.files,
                                  .file_count = session.files.file_count,
                                  .load = peak_store_of_device_memory,
                                  .known = peak_store_known_of_device_memory};
    return answer(request, session.name, &gathering, reply, error);
}
