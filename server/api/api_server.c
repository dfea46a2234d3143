#include "server/api/api.h"

#include "analysis/base/memory_room.h"
#include "server/app.h"
#include "server/http/access.h"
#include "server/store/resident_memory.h"
#include "server/text/json_writer.h"

static void write_cache(struct cache *cache, struct json_writer *w) {
    struct cache_stats stats = cache_stats_read(cache);
    json_open_object_key(w, "cache");
    json_write_int64_key(w, "entries", (int64_t)stats.entries);
    json_write_int64_key(w, "used_bytes", (int64_t)stats.used_bytes);
    json_write_int64_key(w, "loads", (int64_t)stats.loads);
    json_write_int64_key(w, "evictions", (int64_t)stats.evictions);
    json_close_object(w);
}

static void write_loads(struct cache *cache, struct json_writer *w) {
    struct load_counts counts = cache_stats_read(cache).load_counts;
    json_open_object_key(w, "loads");
    json_write_int64_key(w, "running", (int64_t)counts.running);
    json_write_int64_key(w, "slow", (int64_t)counts.slow);
    json_write_int64_key(w, "waiting", (int64_t)counts.waiting);
    json_close_object(w);
}

static void write_memory(const struct app *app, struct json_writer *w) {
    struct resident_memory resident = resident_memory_read(app->resident);
    size_t limit = memory_room_limit();
    json_open_object_key(w, "memory");
    json_write_int64_key(w, "resident_bytes", (int64_t)resident.all_bytes);
    json_write_int64_key(w, "own_bytes", (int64_t)resident.own_bytes);
    json_write_int64_key(w, "counted_bytes", (int64_t)memory_room_taken());
    json_write_int64_key(w, "cache_limit_bytes", (int64_t)cache_stats_read(app->cache).budget_bytes);
    json_key(w, "limit_bytes");
    if (limit)
        json_write_int64(w, (int64_t)limit);
    else
        json_write_null(w);
    json_close_object(w);
}

// Where the page is to be found, the best first: for a proxy's request as the proxy's own readers see it.
static void write_urls(struct request *request, struct json_writer *w) {
    const struct access *access = request->app->access;
    const struct access_request asked = {.host = request->headers.host, .forwarded = request->forwarded};
    bool is_forwarded = asked.forwarded && asked.forwarded->is_there;
    const char *outer = is_forwarded ? access_outer_url(access, &asked, &request->work.arena) : NULL;
    json_open_array_key(w, "urls");
    if (outer) json_write_text(w, outer);
    for (size_t i = 0; i < access->url_count && !is_forwarded; i++) json_write_text(w, access->urls[i]);
    json_close_array(w);
}

bool api_server(struct request *request, struct reply *reply, struct error *error) {
    const struct app *app = request->app;
    const char *logdir = store_logdir(app->store);
    struct output *output = reply_output(request, error);
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    json_write_text_key(&w, "version", HBMVIEW_VERSION);
    json_write_text_key(&w, "logdir", logdir ? logdir : "");
    json_write_bool_key(&w, "sample", !logdir);
    json_write_bool_key(&w, "shared", app->access->is_shared);
    write_urls(request, &w);
    write_cache(app->cache, &w);
    write_loads(app->cache, &w);
    write_memory(app, &w);
    json_close_object(&w);
    return reply_written(reply, REPLY_JSON, output, error);
}
