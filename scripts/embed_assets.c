// Makes the C table of server/embedded_assets.h out of files. Runs at build time, on the building machine.
//
//     embed_assets OUTPUT.c ASSET_PATH=FILE ...
//
// A FILE whose name ends in .gz is embedded as it is (ASSET_PATH names its content); every other file is gzipped here.
// The output depends on the files' bytes alone, so that builds are reproducible.
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { GZIP_WINDOW_BITS = 15 + 16, MAX_ASSETS = 512, BYTES_PER_LINE = 32, MAX_INFLATION = 4096 };

struct blob {
    unsigned char *data;
    size_t size;
};

struct asset {
    const char *path, *file, *content_type;
    struct blob gzip;
    size_t identity_size;
    uint64_t hash;
};

static _Noreturn void die(const char *what, const char *about) {
    fprintf(stderr, "embed_assets: %s: %s\n", what, about);
    exit(1);
}

static void *allocate(size_t size) {
    void *result = malloc(size ? size : 1);
    if (!result) die("out of memory", strerror(errno));
    return result;
}

static bool ends_with(const char *text, const char *end) {
    size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

static const char *content_type(const char *path) {
    static const struct {
        const char *end, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".json", "application/json"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".ico", "image/x-icon"},
        {".txt", "text/plain; charset=utf-8"},
        {".pb", "application/octet-stream"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (ends_with(path, types[i].end)) return types[i].type;
    die("no content type is known for this ending (add it to content_type)", path);
}

static struct blob read_file(const char *file) {
    FILE *in = fopen(file, "rb");
    if (!in || fseek(in, 0, SEEK_END)) die(file, strerror(errno));
    long size = ftell(in);
    if (size < 0) die(file, strerror(errno));
    rewind(in);
    struct blob blob = {allocate((size_t)size), (size_t)size};
    if (fread(blob.data, 1, blob.size, in) != blob.size) die(file, "cannot be read whole");
    fclose(in);
    return blob;
}

static struct blob gzip(struct blob plain) {
    z_stream z = {0};
    if (deflateInit2(&z, 9, Z_DEFLATED, GZIP_WINDOW_BITS, 9, Z_DEFAULT_STRATEGY) != Z_OK) die("zlib", "deflateInit2");
    struct blob packed = {.size = deflateBound(&z, (uLong)plain.size)};
    packed.data = allocate(packed.size);
    z.next_in = plain.data, z.avail_in = (uInt)plain.size;
    z.next_out = packed.data, z.avail_out = (uInt)packed.size;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END) die("zlib", "deflate");
    packed.size = z.total_out;
    deflateEnd(&z);
    return packed;
}

static struct blob gunzip(struct blob packed, const char *file) {
    struct blob plain = {.size = packed.size * 16 + MAX_INFLATION};
    plain.data = allocate(plain.size);
    z_stream z = {.next_in = packed.data, .avail_in = (uInt)packed.size};
    z.next_out = plain.data, z.avail_out = (uInt)plain.size;
    if (inflateInit2(&z, GZIP_WINDOW_BITS) != Z_OK) die("zlib", "inflateInit2");
    if (inflate(&z, Z_FINISH) != Z_STREAM_END) die("not a whole .gz that inflates to at most 16 times its size", file);
    plain.size = z.total_out;
    inflateEnd(&z);
    return plain;
}

static uint64_t fnv1a(struct blob blob) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < blob.size; i++) hash = (hash ^ blob.data[i]) * 0x100000001b3u;
    return hash;
}

static struct asset load(char *pair) {
    char *equals = strchr(pair, '=');
    if (!equals) die("not ASSET_PATH=FILE", pair);
    *equals = '\0';
    struct asset asset = {.path = pair, .file = equals + 1, .content_type = content_type(pair)};
    struct blob content = read_file(asset.file), plain = content;
    if (ends_with(asset.file, ".gz")) {
        asset.gzip = content;
        plain = gunzip(content, asset.file);
    } else {
        asset.gzip = gzip(content);
    }
    asset.identity_size = plain.size;
    asset.hash = fnv1a(plain);
    return asset;
}

static int by_path(const void *a, const void *b) {
    return strcmp(((const struct asset *)a)->path, ((const struct asset *)b)->path);
}

static void write_bytes(FILE *out, size_t number, struct blob blob) {
    fprintf(out, "static const unsigned char asset_%zu[] = {", number);
    for (size_t i = 0; i < blob.size; i++) fprintf(out, "%s%u,", i % BYTES_PER_LINE ? "" : "\n", blob.data[i]);
    fprintf(out, "\n};\n");
}

static void write_table(FILE *out, const struct asset *assets, size_t count) {
    fprintf(out, "// Made by scripts/embed_assets.c.\n#include \"server/embedded_assets.h\"\n\n");
    for (size_t i = 0; i < count; i++) write_bytes(out, i, assets[i].gzip);
    fprintf(out, "\nconst struct embedded_asset embedded_assets[] = {\n");
    for (size_t i = 0; i < count; i++)
        fprintf(out, "    {\"%s\", \"%s\", asset_%zu, %zu, %zu, \"\\\"%016" PRIx64 "\\\"\"},\n", assets[i].path,
                assets[i].content_type, i, assets[i].gzip.size, assets[i].identity_size, assets[i].hash);
    fprintf(out, "};\nconst size_t embedded_asset_count = %zu;\n", count);
}

int main(int argc, char **argv) {
    static struct asset assets[MAX_ASSETS];
    if (argc < 3 || argc - 2 > MAX_ASSETS) die("usage", "embed_assets OUTPUT.c ASSET_PATH=FILE ...");
    size_t count = (size_t)argc - 2;
    for (size_t i = 0; i < count; i++) assets[i] = load(argv[i + 2]);
    qsort(assets, count, sizeof *assets, by_path);
    FILE *out = fopen(argv[1], "w");
    if (!out) die(argv[1], strerror(errno));
    write_table(out, assets, count);
    if (fclose(out)) die(argv[1], strerror(errno));
    return 0;
}
