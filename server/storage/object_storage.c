#include "server/storage/object_storage.h"

#include <stdlib.h>

#include "analysis/base/text_scan.h"
#include "server/storage/identity.h"
#include "server/storage/object_bucket.h"
#include "server/storage/object_listings.h"
#include "server/storage/object_reader.h"
#include "server/storage/web_service.h"

#define USER_AGENT "hbmview"

struct object_storage {
    struct storage storage;  // what the core knows
    struct arena arena;
    struct http_client *client, *near;
    struct object_bucket bucket;
    struct object_listings *listings;
    struct block_store blocks;
    struct object_access access;
};

static const struct object_storage *of(const struct storage *storage) {
    return storage->state;
}

// --- Paths ---

// "s3://bucket/a/./b/" as the name "a/b": without empty parts and ".", which no name of a file has. On the arena.
// NULL: no memory, or not of here.
static const char *name_of(const struct object_storage *storage, const char *path, struct arena *arena) {
    struct bytes text = bytes_of(path), url = bytes_of(storage->bucket.url);
    if (!bytes_starts_with(text, url)) return NULL;
    text = (struct bytes){text.data + url.size, text.size - url.size};
    if (text.size && text.data[0] != '/') return NULL;  // of a bucket with a longer name
    char *name = arena_push(arena, text.size + 1, 1);
    size_t size = 0;
    while (name && text.size) {
        (void)text_take(&text, BYTES("/"));
        struct bytes part = text_take_until(&text, '/');
        if (part.size == 0 || bytes_equal(part, BYTES("."))) continue;
        if (size) name[size++] = '/';
        memcpy(name + size, part.data, part.size);
        size += part.size;
    }
    return name;
}

static bool is_nowhere(const char *path, struct error *error) {
    return error_in(error, ERROR_NOT_FOUND, path, ERROR_WHOLE_FILE, "no object has this name, and none lies below it");
}

static bool look(const struct storage *storage, const char *path, enum storage_links links, struct storage_entry *entry,
                 struct error *error) {
    (void)links;  // there are none
    struct arena scratch;
    arena_init(&scratch, 0);
    const char *name = name_of(of(storage), path, &scratch);
    struct listed_tree *listed = name ? object_listings_of_name(of(storage)->listings, name, storage->reading, error)
                                      : NULL;
    bool is_there = listed && object_tree_look(listed_tree_of(listed), name, entry);
    bool is_good = is_there || ((listed || !name) && is_nowhere(path, error));
    listed_tree_release(listed);
    arena_free(&scratch);
    return is_good;
}

static bool list(const struct storage *storage, const char *path, size_t most, struct arena *arena,
                 struct folder *folder, struct error *error) {
    const char *name = name_of(of(storage), path, arena);
    struct listed_tree *listed = name ? object_listings_of_folder(of(storage)->listings, name, storage->is_aside,
                                                                  storage->reading, error)
                                      : NULL;
    if (!listed) return name ? false : is_nowhere(path, error);
    bool is_listed = object_tree_list(listed_tree_of(listed), name, most, arena, folder);
    listed_tree_release(listed);
    return is_listed || error_in(error, ERROR_TOO_BIG, path, ERROR_WHOLE_FILE, "no memory left to list the folder");
}

static char *resolve(const struct storage *storage, const char *path, struct arena *arena, struct error *error) {
    const struct object_storage *objects = of(storage);
    const char *name = name_of(objects, path, arena);
    char *resolved = name ? arena_printf(arena, "%s%s%s", objects->bucket.url, *name ? "/" : "", name) : NULL;
    if (!resolved) (void)is_nowhere(path, error);
    return resolved;
}

static struct storage_link follow(const struct storage *storage, const char *path, const char *root) {
    (void)storage, (void)path, (void)root;
    return (struct storage_link){ENTRY_LINK, false};
}

// --- Open objects ---

static bool open_object(const struct storage *storage, const char *path, union storage_handle *handle,
                        struct file_version *version, struct error *error) {
    const struct object_storage *objects = of(storage);
    struct arena scratch;
    arena_init(&scratch, 0);
    const char *name = name_of(objects, path, &scratch);
    struct listed_tree *listed = name ? object_listings_of_name(objects->listings, name, storage->reading, error)
                                      : NULL;
    const struct stored_object *object = listed ? object_tree_find(listed_tree_of(listed), name) : NULL;
    handle->state = object ? object_reader_new(&objects->access, object, storage->reading) : NULL;
    if (object) *version = object->version;
    if (object && !handle->state)
        (void)error_in(error, ERROR_TOO_BIG, path, ERROR_WHOLE_FILE, "no memory left to open it");
    else if (!object && (listed || !name))
        (void)is_nowhere(path, error);
    listed_tree_release(listed);
    arena_free(&scratch);
    return handle->state != NULL;
}

static bool read_object(const struct storage *storage, union storage_handle handle, uint64_t offset, uint8_t *to,
                        size_t size, size_t *read_bytes, const char *path, struct error *error) {
    (void)storage, (void)path;
    return object_reader_read(handle.state, offset, to, size, read_bytes, error);
}

static void expect(const struct storage *storage, union storage_handle handle, uint64_t offset, uint64_t size) {
    (void)storage;
    object_reader_expect(handle.state, offset, size);
}

// What was read is of the version that was opened, or it was not read.
static bool is_unchanged(const struct storage *storage, union storage_handle handle,
                         const struct file_version *version) {
    (void)storage, (void)handle, (void)version;
    return true;
}

static bool clone_object(const struct storage *storage, union storage_handle handle, union storage_handle *clone) {
    (void)storage;
    clone->state = object_reader_clone(handle.state);
    return clone->state != NULL;
}

static void close_object(const struct storage *storage, union storage_handle handle) {
    (void)storage;
    object_reader_free(handle.state);
}

// --- The storage ---

// Room for two readers that read ahead, and for what they keep.
static uint64_t ahead_bytes_of(size_t cache_bytes) {
    return cache_bytes / 8 < READER_AHEAD_BYTES_MAX ? cache_bytes / 8 : READER_AHEAD_BYTES_MAX;
}

static bool begin(struct object_storage *storage, const char *url, environment_reader *environment,
                  const struct object_storage_limits *limits, struct error *error) {
    static const struct storage_calls calls = {.look = look,
                                               .list = list,
                                               .resolve = resolve,
                                               .follow = follow,
                                               .open = open_object,
                                               .read = read_object,
                                               .expect = expect,
                                               .is_unchanged = is_unchanged,
                                               .clone = clone_object,
                                               .close = close_object,
                                               .splits_reads = true};
    static const struct http_patience near = {.connect_s = 1, .silence_s = 5, .deadline_s = 10};
    const char *prefix;
    storage->storage = (struct storage){.calls = &calls, .appears_whole = true, .state = storage};
    struct trusted_certificates trusted = trusted_certificates_find(environment);
    storage->client = http_client_new(USER_AGENT, trusted, limits->patience);
    storage->near = http_client_new(USER_AGENT, trusted, near);
    storage->blocks = (struct block_store){&storage->bucket, block_cache_new(limits->cache_bytes), NULL};
    storage->access = (struct object_access){&storage->blocks, read_ahead_new(&storage->blocks),
                                             ahead_bytes_of(limits->cache_bytes)};
    storage->listings = object_listings_new(&storage->bucket);
    if (!storage->client || !storage->near || !storage->blocks.cache || !storage->access.ahead || !storage->listings)
        return error_in(error, ERROR_TOO_BIG, url, ERROR_WHOLE_FILE, "no memory left to open the bucket");
    if (!object_bucket_of_url(url, environment, storage->client, storage->near, &storage->arena, &storage->bucket,
                              &prefix, error))
        return false;
    if (!limits->disk_cache) return true;
    storage->blocks.disk = disk_cache_open(limits->disk_cache, limits->disk_cache_bytes, error);
    return storage->blocks.disk;
}

struct object_storage *object_storage_open(const char *url, environment_reader *environment,
                                           const struct object_storage_limits *limits, struct error *error) {
    struct object_storage *storage = calloc(1, sizeof *storage);
    if (!storage) {
        (void)error_in(error, ERROR_TOO_BIG, url, ERROR_WHOLE_FILE, "no memory left to open the bucket");
        return NULL;
    }
    arena_init(&storage->arena, 0);
    if (begin(storage, url, environment, limits, error)) return storage;
    object_storage_close(storage);
    return NULL;
}

void object_storage_close(struct object_storage *storage) {
    if (!storage) return;
    read_ahead_free(storage->access.ahead);
    object_listings_free(storage->listings);
    disk_cache_close(storage->blocks.disk);
    block_cache_free(storage->blocks.cache);
    identity_free(storage->bucket.identity);
    web_object_free(storage->bucket.web);
    http_client_free(storage->near);
    http_client_free(storage->client);
    arena_free(&storage->arena);
    free(storage);
}

const struct storage *object_storage_of(const struct object_storage *storage) {
    return &storage->storage;
}

struct http_traffic object_storage_traffic(const struct object_storage *storage) {
    return http_client_traffic(storage->client);
}
