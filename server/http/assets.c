#include "server/http/assets.h"

#include <stdio.h>
#include <string.h>

#include "server/app.h"
#include "server/embedded_assets.h"
#include "server/http/gzip.h"

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

static bool reply_embedded(struct request *request, const struct embedded_asset *asset, struct reply *reply,
                           struct error *error) {
    struct bytes gzip = {asset->gzip, asset->gzip_size};
    reply->status = HTTP_OK;
    reply->content_type = asset->content_type;
    snprintf(reply->etag, sizeof reply->etag, "%s", asset->etag);
    if (request_accepts_gzip(request)) {
        reply->body = gzip;
        reply->is_gzip = true;
        etag_for_gzip(reply->etag, reply->etag);
        return true;
    }
    struct output *output = reply_output(request, error);
    if (!output) return false;
    if (!gzip_inflate(gzip, asset->identity_size, output)) return work_out_of_memory(error);
    reply->body = output_bytes(output);
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

// Where a path of the page lies on disk: uPlot comes from node_modules, as it does for the embedded page.
static const char *disk_path(struct request *request, const char *web_dir, const char *path) {
    static const char uplot[] = "../node_modules/uplot/dist";
    struct arena *arena = &request->work.arena;
    if (strcmp(path, "vendor/uplot.js") == 0) return arena_printf(arena, "%s/%s/uPlot.esm.js", web_dir, uplot);
    if (strcmp(path, "vendor/uplot.css") == 0) return arena_printf(arena, "%s/%s/uPlot.min.css", web_dir, uplot);
    return arena_printf(arena, "%s/%s", web_dir, path);
}

static bool read_file(FILE *file, struct output *output) {
    for (;;) {
        char *to = output_reserve(output, BUFSIZ);
        size_t size = to ? fread(to, 1, BUFSIZ, file) : 0;
        output_advance(output, size);
        if (size == 0) return to && !ferror(file) && output->size <= ASSET_FILE_LIMIT_BYTES;
    }
}

static bool reply_from_disk(struct request *request, const char *web_dir, const char *path, struct reply *reply,
                            struct error *error) {
    struct output *output = reply_output(request, error);
    if (!output) return false;
    const char *place = disk_path(request, web_dir, path);
    FILE *file = place ? fopen(place, "re") : NULL;
    if (!file) return not_found(path, error);
    bool is_good = read_file(file, output);
    fclose(file);
    if (!is_good) return not_found(path, error);
    return reply_written(reply, content_type_of(path), output, error);
}

bool assets_are_embedded(const char *path) {
    return find_embedded(path) != NULL;
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
