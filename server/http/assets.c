#include "server/http/assets.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/refused_memory.h"
#include "server/app.h"
#include "server/embedded_assets.h"
#include "server/http/gzip.h"
#include "server/http/response.h"

bool assets_path_is_plain(const char *path) {
    for (const char *part = path;; part++) {
        if (*part == '.' || *part == '/' || *part == '\0') return false;
        part += strcspn(part, "/\\");
        if (*part == '\\') return false;
        if (*part == '\0') return true;
    }
}

static bool not_found(const char *path, struct error *error) {
    return error_set(error, ERROR_NOT_FOUND, "There is no file %.200s here.", path);
}

// --- Embedded ---

// Its name has a hash of its content (scripts/build-page.mjs).
static bool is_hashed(const struct embedded_asset *asset) {
    return strncmp(asset->path, ASSETS_HASHED, strlen(ASSETS_HASHED)) == 0;
}

static const struct embedded_asset *find_embedded(const char *path) {
    if (strcmp(path, EMBEDDED_SAMPLE_PATH) == 0 || strcmp(path, EMBEDDED_SAVED_PAGE_PATH) == 0) return NULL;
    for (size_t i = 0; i < embedded_asset_count; i++) {
        if (strcmp(embedded_assets[i].path, path) == 0) return &embedded_assets[i];
    }
    return NULL;
}

// What is kept of one: its responses, ready to be sent, and for a client without gzip its body.
struct kept_asset {
    struct output inflated;
    struct ready_responses ready;  // atomic: the rest never changes
};

static void destroy_asset(void *data) {
    struct kept_asset *kept = data;
    ready_responses_free(&kept->ready);
    output_free(&kept->inflated);
    free(kept);
}

static size_t cost_of(void *data) {
    const struct kept_asset *kept = data;
    return sizeof *kept + kept->inflated.capacity + ready_responses_bytes(&kept->ready);
}

static bool load_gzipped(void *context, struct cache_value *value, struct error *error) {
    (void)context;
    struct kept_asset *kept = memory_or_refusal(calloc(1, sizeof *kept));
    if (!kept) return work_out_of_memory(error);
    output_init(&kept->inflated, OUTPUT_LIMIT_BYTES);
    *value = (struct cache_value){
        .data = kept, .cost_bytes = sizeof *kept, .destroy = destroy_asset, .cost_now = cost_of};
    return true;
}

static bool load_inflated(void *context, struct cache_value *value, struct error *error) {
    const struct embedded_asset *asset = context;
    if (!load_gzipped(context, value, error)) return false;
    struct kept_asset *kept = value->data;
    bool is_good = gzip_inflate((struct bytes){asset->gzip, asset->gzip_size}, asset->identity_size, &kept->inflated);
    value->cost_bytes = cost_of(kept);
    if (is_good) return true;
    destroy_asset(kept);
    return work_out_of_memory(error);
}

static const char *asset_key(struct request *request, const struct embedded_asset *asset, bool is_gzip) {
    return arena_printf(&request->work.arena, "asset %s%s", asset->path, is_gzip ? " gzip" : "");
}

// In the cache, like anything else that was made.
static struct kept_asset *kept_asset(struct request *request, const struct embedded_asset *asset, bool is_gzip,
                                     struct error *error) {
    union {
        const struct embedded_asset *in;
        void *out;
    } context = {asset};
    const char *key = asset_key(request, asset, is_gzip);
    struct kept_asset *kept = key ? work_get(&request->work, key, (struct load_wish){.lane = LOAD_FREE},
                                             is_gzip ? load_gzipped : load_inflated, context.out, error)
                                  : NULL;
    if (!key) work_out_of_memory(error);
    return kept;
}

static bool reply_embedded(struct request *request, const struct embedded_asset *asset, struct reply *reply,
                           struct error *error) {
    bool is_gzip = request_accepts_gzip(request);
    struct kept_asset *kept = kept_asset(request, asset, is_gzip, error);
    if (!kept) return false;
    reply->status = HTTP_OK;
    reply->content_type = asset->content_type;
    snprintf(reply->etag, sizeof reply->etag, "%s", asset->etag);
    if (is_gzip) etag_for_gzip(reply->etag, reply->etag);
    reply->is_gzip = is_gzip;
    reply->body = is_gzip ? (struct bytes){asset->gzip, asset->gzip_size} : output_bytes(&kept->inflated);
    reply->ready = &kept->ready;
    return true;
}

// --- From --web_dir ---

static const char *content_type_of(const char *path) {
    static const struct {
        const char *end, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".ico", "image/x-icon"},
        {".json", "application/json"},
    };
    size_t size = strlen(path);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        size_t end_size = strlen(types[i].end);
        if (size >= end_size && strcmp(path + size - end_size, types[i].end) == 0) return types[i].type;
    }
    return "application/octet-stream";
}

const char *assets_library_folder(const char *web_dir, struct arena *arena) {
    return arena_printf(arena, "%s/../node_modules/uplot/dist", web_dir);
}

static const char *library_path(struct request *request, const char *web_dir, const char *name) {
    const char *folder = assets_library_folder(web_dir, &request->work.arena);
    return folder ? arena_printf(&request->work.arena, "%s/%s", folder, name) : NULL;
}

// Where a path of the page lies on disk.
static const char *disk_path(struct request *request, const char *web_dir, const char *path) {
    if (strcmp(path, "vendor/uplot.js") == 0) return library_path(request, web_dir, "uPlot.esm.js");
    if (strcmp(path, "vendor/uplot.css") == 0) return library_path(request, web_dir, "uPlot.min.css");
    return arena_printf(&request->work.arena, "%s/%s", web_dir, path);
}

static bool read_file(FILE *file, struct output *output) {
    for (;;) {
        char *to = output_reserve(output, BUFSIZ);
        size_t size = to ? fread(to, 1, BUFSIZ, file) : 0;
        output_advance(output, size);
        if (size == 0) return to && !ferror(file) && output->size <= ASSET_FILE_LIMIT_BYTES;
    }
}

// A pipe without a writer would be waited for: it is no file of the page.
static FILE *open_file(const char *path) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    bool is_file = descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    FILE *file = is_file ? fdopen(descriptor, "r") : NULL;
    if (!file && descriptor >= 0) close(descriptor);
    return file;
}

static bool reply_from_disk(struct request *request, const char *web_dir, const char *path, struct reply *reply,
                            struct error *error) {
    struct output *output = reply_output(request, error);
    if (!output) return false;
    const char *place = disk_path(request, web_dir, path);
    FILE *file = place ? open_file(place) : NULL;
    if (!file) return not_found(path, error);
    bool is_good = read_file(file, output);
    fclose(file);
    if (!is_good) return not_found(path, error);
    return reply_written(reply, content_type_of(path), output, error);
}

bool assets_are_embedded(const char *path) {
    return find_embedded(path) != NULL;
}

bool assets_are_at_hand(struct request *request, const char *path) {
    if (request->app->options->web_dir) return false;
    const struct embedded_asset *asset = find_embedded(path);
    if (!asset || request_accepts_gzip(request)) return true;
    const char *key = asset_key(request, asset, false);
    return key && work_peek(&request->work, key);
}

bool assets_reply(struct request *request, const char *path, struct reply *reply, struct error *error) {
    const char *web_dir = request->app->options->web_dir;
    if (!assets_path_is_plain(path)) return not_found(path, error);
    if (web_dir) return reply_from_disk(request, web_dir, path, reply, error);
    const struct embedded_asset *asset = find_embedded(path);
    if (!asset) return not_found(path, error);
    if (!reply_embedded(request, asset, reply, error)) return false;
    reply->is_immutable = is_hashed(asset);
    return true;
}
