#include "server/store/file_store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/refused_memory.h"
#include "server/embedded_assets.h"

// --- Files ---

static const struct embedded_asset *sample_of(const struct input_file *file) {
    if (strcmp(file->path, EMBEDDED_SAMPLE_PATH) != 0) return NULL;
    for (size_t i = 0; i < embedded_asset_count; i++) {
        if (strcmp(embedded_assets[i].path, EMBEDDED_SAMPLE_PATH) == 0) return &embedded_assets[i];
    }
    return NULL;
}

const struct input_file *file_store_look(struct work *work, const struct session *session, size_t i,
                                         struct error *error) {
    const struct input_file *listed = &session->files.files[i];
    if (sample_of(listed) || (session->is_listed_anew && file_version_is_known(&listed->version))) return listed;
    struct input_file *now = arena_new(&work->arena, struct input_file, 1);
    if (!now) {
        work_out_of_memory(error);
        return NULL;
    }
    *now = *listed;
    struct storage_entry entry;
    struct storage storage = storage_read_for(now->storage, work->reading);
    if (!storage_look(&storage, now->path, STORAGE_FOLLOW_LINKS, &entry, error)) return NULL;
    now->version = entry.version;
    return now;
}

bool file_store_has_changed(const struct input_file *file) {
    struct file_version now;
    if (sample_of(file)) return false;
    return !storage_look_at_file(file->storage, file->path, STORAGE_FOLLOW_LINKS, &now) ||
           !file_version_equal(&now, &file->version);
}

const char *file_store_key(struct work *work, const char *kind, const struct input_file *file, struct error *error) {
    const struct file_version *v = &file->version;
    const char *key = arena_printf(
        &work->arena, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 ".%09" PRId64 " %" PRId64 ".%09" PRId64 " %s",
        kind, v->device, v->inode, v->size_bytes, v->modified_s, v->modified_ns, v->changed_s, v->changed_ns,
        file->path);
    if (!key) work_out_of_memory(error);
    return key;
}

static bool changed(const struct input_file *file, struct error *error) {
    return error_in(error, ERROR_UNREADABLE, file->path, ERROR_WHOLE_FILE,
                    "The file changed while it was being read; try again.");
}

static struct byte_source *open_sample(const struct embedded_asset *sample, struct error *error) {
    return byte_source_of_memory((struct bytes){sample->gzip, sample->gzip_size}, sample->path, error);
}

static struct byte_source *open_version(const struct input_file *file, struct error *error) {
    const struct embedded_asset *sample = sample_of(file);
    struct byte_source *source = sample ? open_sample(sample, error)
                                        : byte_source_open(file->storage, file->path, error);
    if (!source) {
        error_in_file(error, file->path, 0);
        return NULL;
    }
    struct file_version opened = byte_source_version(source);
    if (sample || file_version_equal(&opened, &file->version)) return source;
    byte_source_close(source);
    changed(file, error);
    return NULL;
}

static void destroy_points(void *data) {
    byte_source_points_free(data);
}

static size_t points_cost(void *data) {
    return byte_source_points_bytes(data);
}

static bool make_points(void *context, struct cache_value *value, struct error *error) {
    (void)context;
    struct byte_source_points *points = byte_source_points_new(BYTE_SOURCE_POINTS_SPACING_BYTES);
    if (!points) return work_out_of_memory(error);
    *value = (struct cache_value){points, points_cost(points), destroy_points, points_cost};
    return true;
}

// Without them the reader makes some of its own.
static void share_points(struct work *work, const struct input_file *file, struct open_file *opened) {
    static const struct load_wish at_once = {.lane = LOAD_FREE};
    struct error ignored;
    const char *key = file_store_key(work, "gz_points", file, &ignored);
    if (key) opened->points = cache_get(work->cache, key, at_once, make_points, NULL, work->reading, &ignored);
    if (opened->points) byte_source_share(opened->source, cache_data(opened->points));
}

bool file_store_open(struct work *work, const struct input_file *file, struct open_file *opened, struct error *error) {
    *opened = (struct open_file){.source = open_version(file, error), .cache = work->cache};
    if (opened->source && byte_source_is_gzip(opened->source)) share_points(work, file, opened);
    return opened->source;
}

void file_store_close(struct open_file *opened) {
    byte_source_close(opened->source);
    if (opened->points) cache_release(opened->cache, opened->points);
    *opened = (struct open_file){0};
}

// --- Things ---

enum { FIRST_BLOCK_BYTES = 1 << 10 };

struct stored {
    const struct stored_kind *kind;
    struct arena arena;
    struct error *refusal;  // NULL, or why the content gives no such thing
    _Alignas(16) uint8_t thing[];
};

bool file_store_is_lasting(const struct error *error) {
    return error->code == ERROR_TRUNCATED || error->code == ERROR_MALFORMED || error->code == ERROR_TOO_BIG;
}

static void empty(struct stored *stored) {
    if (stored->kind->release) stored->kind->release(stored->thing);
    arena_free(&stored->arena);
    memset(stored->thing, 0, stored->kind->thing_bytes);
}

static void destroy(void *data) {
    empty(data);
    free(data);
}

struct making {
    const struct stored_kind *kind;
    struct filling from;
    struct work *work;
};

// What beside the file is read through it (a dump's other parts) is followed as well.
static bool fill_followed(const struct making *making, struct filling from, struct stored *stored,
                          struct error *error) {
    struct reading *reading = making->work->reading;
    struct input_file file = *from.file;
    struct open_file opened;
    struct storage storage = {0};
    if (file.storage) storage = storage_read_for(file.storage, reading);
    if (file.storage) file.storage = &storage;
    from.file = &file;
    if (!file_store_open(making->work, &file, &opened, error)) return false;
    from.source = opened.source;
    bool is_good = making->kind->fill(&from, stored->thing, error) || error_in_file(error, file.path, 0);
    // What was read while the file was being rewritten is neither version's; nor is a fault found there.
    bool is_one_version = byte_source_is_unchanged(from.source);
    file_store_close(&opened);
    if (!is_one_version) return changed(&file, error);
    return reading_goes_on(reading, file.path, error) && is_good;
}

static bool fill_open(const struct making *making, struct stored *stored, struct error *error) {
    struct filling from = making->from;
    from.arena = &stored->arena;
    if (making->kind->is_derived) return making->kind->fill(&from, stored->thing, error);
    return fill_followed(making, from, stored, error);
}

// A content that is refused, perhaps at some expense, is refused once. What is derived has no content of its own.
static bool fill(const struct making *making, struct stored *stored, struct error *error) {
    if (fill_open(making, stored, error)) return true;
    empty(stored);
    if (making->kind->is_derived || !file_store_is_lasting(error)) return false;
    if (!(stored->refusal = arena_new(&stored->arena, struct error, 1))) return false;
    *stored->refusal = *error;
    return true;
}

static bool make(void *context, struct cache_value *value, struct error *error) {
    const struct making *making = context;
    const struct stored_kind *kind = making->kind;
    struct stored *stored = memory_or_refusal(calloc(1, sizeof *stored + kind->thing_bytes));
    if (!stored) return work_out_of_memory(error);
    stored->kind = kind;
    arena_init(&stored->arena, kind->arena_limit_bytes);
    stored->arena.next_block_bytes = FIRST_BLOCK_BYTES;  // a dump has thousands of small indexes
    if (!fill(making, stored, error)) {
        destroy(stored);
        return false;
    }
    size_t outside = kind->outside_bytes ? kind->outside_bytes(stored->thing) : 0;
    *value = (struct cache_value){
        .data = stored,
        .cost_bytes = sizeof *stored + kind->thing_bytes + stored->arena.used_bytes + outside,
        .destroy = destroy,
    };
    return true;
}

static bool is_gzip(const struct input_file *file) {
    size_t size = strlen(file->path);
    return size > 3 && strcmp(file->path + size - 3, ".gz") == 0;
}

struct load_wish file_store_wish(const struct input_file *file) {
    enum { USUAL_RATIO = 8 };
    bool is_small = file->version.size_bytes <= LOAD_SMALL_BYTES / (is_gzip(file) ? USUAL_RATIO : 1);
    return (struct load_wish){is_small ? LOAD_SMALL : LOAD_LARGE, file->version.device};
}

static struct load_wish wish_of(const struct stored_kind *kind, const struct input_file *file, const void *of) {
    if (kind->is_light) return (struct load_wish){.lane = LOAD_FREE};
    if (kind->is_derived) return (struct load_wish){.lane = LOAD_MADE};
    struct load_wish wish = file_store_wish(file);
    if (kind->needed_bytes && !is_gzip(file) && kind->needed_bytes(of) <= LOAD_SMALL_BYTES) wish.lane = LOAD_SMALL;
    return wish;
}

const void *file_store_get(struct work *work, const struct stored_kind *kind, const char *key,
                           const struct input_file *file, const void *of, struct error *error) {
    struct making making = {kind, {.file = file, .of = of}, work};
    const struct stored *stored = work_get(work, key, wish_of(kind, file, of), make, &making, error);
    if (stored && !stored->refusal) return stored->thing;
    if (stored) *error = *stored->refusal;
    return NULL;
}

const void *file_store_peek(struct work *work, const char *key) {
    const struct stored *stored = work_peek(work, key);
    return stored && !stored->refusal ? stored->thing : NULL;
}
