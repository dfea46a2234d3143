#include "server/storage/object_bucket.h"

#include "analysis/base/text_scan.h"
#include "server/storage/gcs_service.h"
#include "server/storage/identity_gcs.h"
#include "server/storage/identity_s3.h"
#include "server/storage/s3_service.h"
#include "server/storage/url_text.h"
#include "server/storage/web_service.h"

#define GCS_ORIGIN "https://storage.googleapis.com"

static bool no_memory(const char *url, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, url, ERROR_WHOLE_FILE, "no memory left to open the bucket");
}

struct endpoint {
    const char *variable, *address;  // the address is NULL where the environment names none
};

static struct endpoint endpoint_of(environment_reader *environment, const char *variable) {
    return (struct endpoint){variable, environment_get(environment, variable)};
}

// An address of the environment as an origin: with a scheme, without "/" at its end. Origins stand in messages.
static const char *origin_of(struct endpoint endpoint, struct arena *arena, struct error *error) {
    const char *address = endpoint.address;
    struct bytes text = bytes_of(address);
    if (strpbrk(address, "@?#")) {
        (void)error_set(error, ERROR_BAD_REQUEST,
                        "expected https://host:port in %s, without a user name, a password or a query",
                        endpoint.variable);
        return NULL;
    }
    while (text.size && text.data[text.size - 1] == '/') text.size--;
    return arena_printf(arena, "%s%.*s", strstr(address, "://") ? "" : "http://", (int)text.size, text.data);
}

static bool reach_s3(struct object_bucket *bucket, environment_reader *environment, struct arena *arena,
                     struct error *error) {
    struct endpoint endpoint = endpoint_of(environment, "AWS_ENDPOINT_URL_S3");
    if (!endpoint.address) endpoint = endpoint_of(environment, "AWS_ENDPOINT_URL");
    bucket->region = s3_region(environment, arena);
    bool has_host = !endpoint.address && !strchr(bucket->name, '.');  // a host with more dots has no certificate
    bucket->root_path = has_host ? ""
                                 : arena_printf(arena, "/%s", url_escape(bytes_of(bucket->name), URL_VALUE, arena));
    (void)no_memory(bucket->url, error);  // unless the address is no good
    bucket->origin = endpoint.address ? origin_of(endpoint, arena, error)
                     : has_host ? arena_printf(arena, "https://%s.s3.%s.amazonaws.com", bucket->name, bucket->region)
                                : arena_printf(arena, "https://s3.%s.amazonaws.com", bucket->region);
    return bucket->root_path && bucket->origin;
}

static bool reach_gcs(struct object_bucket *bucket, environment_reader *environment, struct arena *arena,
                      struct error *error) {
    struct endpoint emulator = endpoint_of(environment, "STORAGE_EMULATOR_HOST");
    const char *name = url_escape(bytes_of(bucket->name), URL_VALUE, arena);
    (void)no_memory(bucket->url, error);  // unless the address is no good
    bucket->origin = emulator.address ? origin_of(emulator, arena, error) : GCS_ORIGIN;
    bucket->root_path = name ? arena_printf(arena, "/storage/v1/b/%s/o", name) : NULL;
    return bucket->origin && bucket->root_path;
}

static bool is_bucket_name(struct bytes name) {
    for (size_t i = 0; i < name.size; i++) {
        uint8_t c = name.data[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_word && c != '-' && c != '.' && c != '_') return false;
    }
    return name.size > 0;
}

// Without the "/" at its ends.
static struct bytes inner(struct bytes text) {
    while (text_take(&text, BYTES("/"))) continue;
    while (text.size && text.data[text.size - 1] == '/') text.size--;
    return text;
}

// A name and a port; no password.
static bool is_host(struct bytes host) {
    for (size_t i = 0; i < host.size; i++) {
        if (host.data[i] <= ' ' || host.data[i] == 0x7f || strchr("@?#\\", host.data[i])) return false;
    }
    return host.size > 0;
}

// Splits "https://host/a/name?query#fragment". False: it names no file.
static bool split_address(struct bytes text, struct bytes *origin, struct bytes *path, struct bytes *query) {
    struct bytes all = text;
    (void)(text_take(&text, BYTES("https://")) || text_take(&text, BYTES("http://")));
    struct bytes host = text_take_until(&text, '/');
    *origin = (struct bytes){all.data, (size_t)(text.data - all.data)};
    text = text_take_until(&text, '#');
    *path = text_take_until(&text, '?');
    (void)text_take(&text, BYTES("?"));
    *query = text;
    return is_host(host) && path->size > 1 && path->data[path->size - 1] != '/';
}

static bool of_address(const char *url, struct http_client *client, struct arena *arena, struct object_bucket *bucket,
                       const char **prefix, struct error *error) {
    struct bytes origin, path, query;
    if (!split_address(bytes_of(url), &origin, &path, &query))
        return error_set(
            error, ERROR_BAD_REQUEST,
            "expected the address of one file, like https://host/run/vm.xplane.pb, without a password: web "
            "servers have no lists of their files; give each file, or download the folder");
    *bucket = (struct object_bucket){.service = web_service(), .client = client, .region = ""};
    bucket->url = bucket->origin = arena_string(arena, origin);
    bucket->root_path = url_escape_rest(path, arena);
    bucket->name = *prefix = arena_string(arena, inner(path));
    const char *sent = url_escape_rest(query, arena);
    if (bucket->url && bucket->root_path && *prefix && sent) bucket->web = web_object_new(*prefix, sent);
    return bucket->web || no_memory(bucket->url ? bucket->url : "", error);
}

// What follows a "?" may be a signature.
static bool is_no_place(const char *url, struct arena *arena, struct error *error) {
    struct bytes shown = bytes_of(url);
    const char *told = arena_string(arena, text_take_until(&shown, '?'));
    return error_in(error, ERROR_BAD_REQUEST, told ? told : "", ERROR_WHOLE_FILE,
                    "expected gs://bucket/prefix, s3://bucket/prefix or https://host/file");
}

bool object_bucket_of_url(const char *url, environment_reader *environment, struct http_client *client,
                          struct http_client *near, struct arena *arena, struct object_bucket *bucket,
                          const char **prefix, struct error *error) {
    struct bytes text = bytes_of(url);
    if (bytes_starts_with(text, BYTES("https://")) || bytes_starts_with(text, BYTES("http://")))
        return of_address(url, client, arena, bucket, prefix, error);
    bool is_s3 = text_take(&text, BYTES("s3://")), is_gcs = !is_s3 && text_take(&text, BYTES("gs://"));
    struct bytes name = text_take_until(&text, '/');
    if ((!is_s3 && !is_gcs) || !is_bucket_name(name)) return is_no_place(url, arena, error);
    *bucket = (struct object_bucket){.service = is_s3 ? s3_service() : gcs_service(), .client = client};
    bucket->name = arena_string(arena, name);
    bucket->url = bucket->name ? arena_printf(arena, "%s://%s", bucket->service->scheme, bucket->name) : NULL;
    *prefix = arena_string(arena, inner(text));
    if (!bucket->url || !*prefix) return no_memory(url, error);
    if (is_s3 ? !reach_s3(bucket, environment, arena, error) : !reach_gcs(bucket, environment, arena, error))
        return false;
    bucket->identity = is_s3 ? identity_of_s3(environment, near) : identity_of_gcs(environment, near);
    return bucket->identity || no_memory(url, error);
}
