#include "server/http/metrics.h"

#include "analysis/base/memory_room.h"
#include "server/app.h"
#include "server/http/access.h"
#include "server/http/traffic.h"
#include "server/store/resident_memory.h"

static const char METRICS_TYPE[] = "text/plain; version=0.0.4; charset=utf-8";

static const char *const family_names[REPLY_FAMILY_COUNT] = {
    [REPLY_API] = "api", [REPLY_XPROF] = "xprof", [REPLY_PAGE] = "page", [REPLY_WATCH] = "watch"};

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

// The text that is being written; the request's arena has its pieces.
struct metrics_text {
    struct output *output;
    struct arena *arena;
};

static void head(struct metrics_text *text, const char *name, enum metric_kind kind, const char *help) {
    static const char *const kinds[] = {"counter", "gauge", "histogram"};
    output_put(text->output, arena_printf(text->arena, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kinds[kind]));
}

static void one(struct metrics_text *text, const char *name, enum metric_kind kind, const char *help, uint64_t value) {
    head(text, name, kind, help);
    output_put(text->output, arena_printf(text->arena, "%s %llu\n", name, (unsigned long long)value));
}

static void one_of_seconds(struct metrics_text *text, const char *name, const char *help, double seconds) {
    head(text, name, METRIC_COUNTER, help);
    output_put(text->output, arena_printf(text->arena, "%s %.6f\n", name, seconds));
}

static void write_answers(struct metrics_text *text, const struct traffic *traffic) {
    head(text, "hbmview_http_requests_total", METRIC_COUNTER, "Requests answered, by family of addresses and status.");
    for (size_t f = 0; f < REPLY_FAMILY_COUNT; f++) {
        for (size_t status = 0; status < TRAFFIC_STATUS_COUNT; status++) {
            unsigned long long count = atomic_load(&traffic->families[f].answers[status]);
            if (count == 0) continue;
            output_put(text->output,
                       arena_printf(text->arena, "hbmview_http_requests_total{family=\"%s\",code=\"%zu\"} %llu\n",
                                    family_names[f], status, count));
        }
    }
    head(text, "hbmview_http_response_bytes_total", METRIC_COUNTER, "Bytes of the bodies sent.");
    for (size_t f = 0; f < REPLY_FAMILY_COUNT; f++)
        output_put(text->output,
                   arena_printf(text->arena, "hbmview_http_response_bytes_total{family=\"%s\"} %llu\n", family_names[f],
                                (unsigned long long)atomic_load(&traffic->families[f].bytes)));
}

static void write_times_of(struct metrics_text *text, const struct traffic_family *family, const char *name) {
    unsigned long long count = 0;
    for (size_t i = 0; i <= TRAFFIC_BUCKET_COUNT; i++) {
        count += atomic_load(&family->took[i]);
        const char *most = i == TRAFFIC_BUCKET_COUNT ? "+Inf"
                                                     : arena_printf(text->arena, "%g", traffic_bucket_us[i] / 1e6);
        output_put(text->output,
                   arena_printf(text->arena, "hbmview_http_request_seconds_bucket{family=\"%s\",le=\"%s\"} %llu\n",
                                name, most ? most : "", count));
    }
    output_put(text->output, arena_printf(text->arena,
                                          "hbmview_http_request_seconds_sum{family=\"%s\"} %.6f\n"
                                          "hbmview_http_request_seconds_count{family=\"%s\"} %llu\n",
                                          name, (double)atomic_load(&family->took_us) / 1e6, name, count));
}

static void write_times(struct metrics_text *text, const struct traffic *traffic) {
    head(text, "hbmview_http_request_seconds", METRIC_HISTOGRAM, "From the request's first line to its reply.");
    for (size_t f = 0; f < REPLY_FAMILY_COUNT; f++) write_times_of(text, &traffic->families[f], family_names[f]);
    one(text, "hbmview_http_streams_total", METRIC_COUNTER, "Streams of events that have ended.",
        atomic_load(&traffic->streams));
}

static void write_cache(struct metrics_text *text, struct cache *cache) {
    struct cache_stats stats = cache_stats_read(cache);
    one(text, "hbmview_cache_bytes", METRIC_GAUGE, "What the cache holds.", stats.used_bytes);
    one(text, "hbmview_cache_entries", METRIC_GAUGE, "Entries of the cache.", stats.entries);
    one(text, "hbmview_cache_hits_total", METRIC_COUNTER, "What was in the cache, or being loaded, when asked for.",
        stats.hits);
    one(text, "hbmview_cache_misses_total", METRIC_COUNTER, "What was not, and had to be loaded.", stats.loads);
    one(text, "hbmview_cache_evictions_total", METRIC_COUNTER, "What made room for something newer.", stats.evictions);
    one(text, "hbmview_loads_total", METRIC_COUNTER, "Files read and answers computed.", stats.loads);
    one(text, "hbmview_load_failures_total", METRIC_COUNTER, "Those that ended in an error.", stats.failures);
    one(text, "hbmview_loads_running", METRIC_GAUGE, "Loads under way.", stats.load_counts.running);
    one(text, "hbmview_loads_slow", METRIC_GAUGE, "Those of them that mostly wait for their storage.",
        stats.load_counts.slow);
    one(text, "hbmview_loads_waiting", METRIC_GAUGE, "Loads that wait for their turn.", stats.load_counts.waiting);
    one_of_seconds(text, "hbmview_load_seconds_total", "How long they took, each with those inside it.",
                   (double)stats.load_ns / 1e9);
}

static void write_memory(struct metrics_text *text, const struct resident_count *resident) {
    one(text, "hbmview_memory_own_bytes", METRIC_GAUGE,
        "What the process takes, without the program's file and libraries.", resident_memory_read(resident).own_bytes);
    one(text, "hbmview_memory_limit_bytes", METRIC_GAUGE, "--memory_limit; 0: none.", memory_room_limit());
}

static void write_storage(struct metrics_text *text, const struct store *store) {
    struct http_traffic traffic = store_bucket_traffic(store);
    one(text, "hbmview_storage_requests_total", METRIC_COUNTER, "Requests to a bucket or web server.",
        traffic.requests);
    one(text, "hbmview_storage_bytes_total", METRIC_COUNTER, "Bytes that came from there.", traffic.body_bytes);
}

bool metrics_reply(struct request *request, struct reply *reply, struct error *error) {
    const struct app *app = request->app;
    struct metrics_text text = {reply_output(request, error), &request->work.arena};
    if (!text.output) return false;
    head(&text, "hbmview_build_info", METRIC_GAUGE, "The version that runs.");
    output_put(text.output, "hbmview_build_info{version=\"" HBMVIEW_VERSION "\"} 1\n");
    write_answers(&text, app->traffic);
    write_times(&text, app->traffic);
    write_cache(&text, app->cache);
    write_memory(&text, app->resident);
    write_storage(&text, app->store);
    return reply_written(reply, METRICS_TYPE, text.output, error);
}

bool metrics_health(struct request *request, struct reply *reply, struct error *error) {
    (void)error;
    reply_short(reply, HTTP_OK, REPLY_TEXT, "ok\n");
    reply->is_for_any_site = request->app->access->is_framed;
    return true;
}
