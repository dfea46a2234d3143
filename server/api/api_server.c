#include "server/api/api.h"

#include "server/app.h"
#include "server/http/access.h"
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
    json_open_array_key(&w, "urls");
    for (size_t i = 0; i < app->access->url_count; i++) json_write_text(&w, app->access->urls[i]);
    json_close_array(&w);
    write_cache(app->cache, &w);
    json_close_object(&w);
    return reply_written(reply, REPLY_JSON, output, error);
}
