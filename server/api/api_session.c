// One session at a glance: which tools have something to show of it, and what its devices have. Read from the names in
// its files; nothing is loaded.
#include "analysis/base/device_kinds.h"
#include "server/api/api.h"
#include "server/app.h"
#include "server/store/module_list.h"
#include "server/store/trace_store.h"
#include "server/store/work_each.h"
#include "server/text/error_json.h"

struct glance {
    struct module_list list;  // nothing of a device memory profile outside any session
    struct session_files device_memory;
    const struct trace_contents **contents;  // of each host of the list; NULL: it cannot be read
    bool has_memory_events;
};

// Equal devices of one host, side by side, are told once.
static size_t count_alike(const struct trace_contents *contents, size_t first) {
    const struct trace_device *of = &contents->devices[first];
    size_t count = 1;
    for (; first + count < contents->device_count; count++) {
        const struct trace_device *next = &contents->devices[first + count];
        if (next->memory_bytes != of->memory_bytes || !bytes_equal(next->type, of->type)) break;
    }
    return count;
}

// What the profile says that it has comes before what devices of its type have.
static void write_capacity(const struct trace_device *device, const struct device_kind *kind, struct json_writer *w) {
    const char *from = device->memory_bytes ? "memory_size" : kind ? "device_type" : NULL;
    int64_t bytes = device->memory_bytes ? device->memory_bytes : kind ? device_kind_bytes(kind) : 0;
    json_write_known_key(w, "capacity_bytes", bytes > 0, bytes);
    json_write_text_key(w, "capacity_from", from);
}

static void write_device(const char *host, const struct trace_device *device, size_t count, struct json_writer *w) {
    char type[TRACE_TYPE_MAX_BYTES + 1] = "";
    if (device->type.size) memcpy(type, device->type.data, device->type.size);
    const struct device_kind *kind = device_kind_of_profile(type);
    json_open_object(w);
    json_write_text_key(w, "host", host);
    json_write_string_key(w, "plane", device->plane);
    json_write_int64_key(w, "count", (int64_t)count);
    json_write_text_key(w, "type", type[0] ? type : NULL);
    json_write_text_key(w, "name", kind ? kind->name : NULL);
    write_capacity(device, kind, w);
    json_close_object(w);
}

// Told by the first that asks, of all hosts side by side; damage shows in the modules reply.
static void look_into_host(struct work *work, void *context, size_t i) {
    struct glance *glance = context;
    const struct module_host *host = &glance->list.hosts[i];
    struct error ignored;
    glance->contents[i] = host->index ? trace_store_contents(work, host->file, &ignored) : NULL;
}

static bool look_into_hosts(struct work *work, struct glance *glance, struct error *error) {
    glance->contents = arena_new(&work->arena, const struct trace_contents *, glance->list.host_count + 1);
    return (glance->contents && work_each(work, look_into_host, glance, glance->list.host_count)) ||
           work_out_of_memory(error);
}

static void write_devices(struct glance *glance, struct json_writer *w) {
    json_open_array_key(w, "devices");
    for (size_t i = 0; i < glance->list.host_count; i++) {
        const struct trace_contents *contents = glance->contents[i];
        if (!contents) continue;
        glance->has_memory_events |= contents->has_memory_events;
        for (size_t k = 0, count; k < contents->device_count; k += count) {
            count = count_alike(contents, k);
            write_device(glance->list.hosts[i].file->host, &contents->devices[k], count, w);
        }
    }
    json_close_array(w);
}

// The ids of the page's tools (web/js/tools.js) that have something to show.
static void write_tools(const struct glance *glance, struct json_writer *w) {
    json_open_array_key(w, "tools");
    if (glance->list.row_count > 0) json_write_text(w, "memory_viewer");
    if (glance->has_memory_events) json_write_text(w, "memory_profile");
    if (glance->device_memory.file_count > 0) json_write_text(w, "device_memory");
    if (glance->list.row_count > 0) json_write_text(w, "compare");
    json_close_array(w);
}

static void write_files(const struct glance *glance, struct json_writer *w) {
    const struct module_list *list = &glance->list;
    const struct session_files *others = &glance->device_memory;
    size_t unreadable = 0;
    uint64_t size_bytes = 0;
    for (size_t i = 0; i < list->host_count; i++) {
        unreadable += list->hosts[i].error != NULL;
        size_bytes += list->hosts[i].file->version.size_bytes;
    }
    for (size_t i = 0; i < others->file_count; i++) size_bytes += others->files[i].version.size_bytes;
    json_write_int64_key(w, "files", (int64_t)(list->host_count + others->file_count));
    json_write_int64_key(w, "unreadable_files", (int64_t)unreadable);
    json_write_int64_key(w, "size_bytes", (int64_t)size_bytes);
    json_write_int64_key(w, "programs", (int64_t)list->row_count);
}

static bool look(struct request *request, const struct session_place *place, struct glance *glance,
                 struct error *error) {
    struct store *store = request->app->store;
    struct session session, device_memory;
    *glance = (struct glance){0};
    if (!store_open_session(store, &request->work, place, STORE_LIST_DEVICE_MEMORY, &device_memory, error))
        return false;
    glance->device_memory = device_memory.files;
    if (!store_open_session(store, &request->work, place, STORE_LIST_ANEW, &session, error))
        return error->code == ERROR_NOT_FOUND && glance->device_memory.file_count > 0;
    return module_list_read(&request->work, &session, &glance->list, error) &&
           look_into_hosts(&request->work, glance, error);
}

bool api_session(struct request *request, struct reply *reply, struct error *error) {
    struct session_place place = {0};
    struct glance glance;
    if (!request_need(request, "session", &place.name, error) || !look(request, &place, &glance, error)) return false;
    struct output *output = reply_output(request, error);
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    json_write_text_key(&w, "session", place.name);
    write_files(&glance, &w);
    write_devices(&glance, &w);
    write_tools(&glance, &w);
    json_close_object(&w);
    return reply_written(reply, REPLY_JSON, output, error);
}
