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
    struct session device_memory;
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

// Told by the first that asks, of all hosts side by side; damage shows in the modules reply, what the system refused
// just now among the unreadable files.
static void look_into_host(struct work *work, void *context, size_t i) {
    static const struct error refused = {ERROR_UNREADABLE, ERROR_WHOLE_FILE, "", "It could not be read just now."};
    struct glance *glance = context;
    struct module_host *host = &glance->list.hosts[i];
    struct error error;
    glance->contents[i] = host->index ? trace_store_contents(work, host->file, &error) : NULL;
    if (host->index && !glance->contents[i] && !file_store_is_lasting(&error)) host->error = &refused;
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
    if (glance->device_memory.files.file_count > 0) json_write_text(w, "device_memory");
    if (glance->list.row_count > 0) json_write_text(w, "compare");
    json_close_array(w);
}

struct file_sums {
    size_t count, unreadable;
    uint64_t size_bytes;
    bool is_size_known;  // of all files
};

static void add_file(struct file_sums *sums, const struct input_file *file, bool is_readable) {
    sums->count++;
    sums->unreadable += !is_readable;
    sums->size_bytes += file->version.size_bytes;
    sums->is_size_known &= file_version_is_known(&file->version);
}

static struct file_sums sum_files(const struct glance *glance, struct work *work) {
    const struct module_list *list = &glance->list;
    const struct session *others = &glance->device_memory;
    struct file_sums sums = {.is_size_known = true};
    struct error ignored;
    for (size_t i = 0; i < list->host_count; i++) {
        add_file(&sums, list->hosts[i].file, !list->hosts[i].error);
    }
    for (size_t i = 0; i < others->files.file_count; i++) {
        const struct input_file *now = file_store_look(work, others, i, &ignored);
        add_file(&sums, now ? now : &others->files.files[i], now && !now->is_broken);
    }
    return sums;
}

static void write_files(const struct glance *glance, struct work *work, struct json_writer *w) {
    struct file_sums sums = sum_files(glance, work);
    json_write_int64_key(w, "files", (int64_t)sums.count);
    json_write_int64_key(w, "unreadable_files", (int64_t)sums.unreadable);
    json_write_known_key(w, "size_bytes", sums.is_size_known, (int64_t)sums.size_bytes);
    json_write_int64_key(w, "programs", (int64_t)glance->list.row_count);
}

static bool look(struct request *request, const struct session_place *place, struct glance *glance,
                 struct error *error) {
    struct store *store = request->app->store;
    struct session session;
    *glance = (struct glance){0};
    if (!store_open_session(store, &request->work, place, STORE_LIST_DEVICE_MEMORY, &glance->device_memory, error))
        return false;
    if (!store_open_session(store, &request->work, place, STORE_LIST_ANEW, &session, error))
        return error->code == ERROR_NOT_FOUND && glance->device_memory.files.file_count > 0;
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
    write_files(&glance, &request->work, &w);
    write_devices(&glance, &w);
    write_tools(&glance, &w);
    json_close_object(&w);
    return reply_written(reply, REPLY_JSON, output, error);
}
