#include "server/store/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/base/refused_memory.h"
#include "analysis/input/run_names.h"
#include "server/embedded_assets.h"
#include "server/steady_wait.h"
#include "server/storage/object_storage.h"
#include "server/storage/opened_storage.h"
#include "server/store/kept_looks.h"
#include "server/store/place.h"
#include "server/text/utf8.h"

// A change in the same moment as the scan may leave the folder's time as it was: then it is not relied on.
enum {
    SNAPSHOT_LIMIT_BYTES = 1 << 30,
    NAMES_SHOWN = 3,
    NAMES_TEXT_BYTES = 256,
    FOLDER_SETTLES_SECONDS = 2,
    PATIENCE_MS = 100
};

struct snapshot {
    atomic_uint users;
    uint64_t number;  // of the scan that made it
    struct arena arena;
    struct stillness_mark mark;
    struct catalog catalog;
};

struct store {
    struct opened_storage opened;
    bool has_storage;
    struct error refusal;  // why not
    const char *logdir;
    struct stillness *stillness;
    struct kept_looks *kept_looks;
    pthread_mutex_t lock;
    pthread_cond_t scanned;
    struct snapshot *current;
    uint64_t started;  // how many scans have begun
    uint64_t failed;   // the last one that did, for the reason of `failure`
    struct error failure;
    bool is_scanning;
    struct reading *scanner;  // of whoever scans; NULL: nobody follows it
};

struct store *store_new(const char *logdir, const struct storage_settings *settings) {
    struct store *store = calloc(1, sizeof *store);
    if (!store) return NULL;
    store->has_storage = opened_storage_begin(&store->opened, logdir, settings, &store->refusal);
    store->logdir = store->opened.path;
    store->stillness = stillness_new(store->opened.storage, store->logdir);
    store->kept_looks = kept_looks_new();
    pthread_mutex_init(&store->lock, NULL);
    steady_condition_init(&store->scanned);
    if (store->stillness && store->kept_looks) return store;
    store_free(store);
    return NULL;
}

void store_follow_links(struct store *store) {
    opened_storage_follow_links(&store->opened);
}

static void snapshot_release(void *thing) {
    struct snapshot *snapshot = thing;
    if (!snapshot || atomic_fetch_sub(&snapshot->users, 1) != 1) return;
    arena_free(&snapshot->arena);
    free(snapshot);
}

void store_free(struct store *store) {
    if (!store) return;
    snapshot_release(store->current);
    stillness_free(store->stillness);
    kept_looks_free(store->kept_looks);
    opened_storage_end(&store->opened);
    pthread_cond_destroy(&store->scanned);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

const char *store_logdir(const struct store *store) {
    return store->logdir;
}

struct http_traffic store_bucket_traffic(const struct store *store) {
    const struct object_storage *objects = store->opened.objects;
    return objects ? object_storage_traffic(objects) : (struct http_traffic){0};
}

const struct storage *store_storage(const struct store *store) {
    return store->opened.storage;
}

struct stillness *store_stillness(struct store *store) {
    return store->stillness;
}

// --- Scanning ---

static bool sample_catalog(struct arena *arena, struct catalog *catalog, struct error *error) {
    struct catalog_session *session = arena_new(arena, struct catalog_session, 1);
    *catalog = (struct catalog){.root = arena_string(arena, BYTES("")), .sessions = session, .session_count = 1};
    if (!session) return work_out_of_memory(error);
    session->name = arena_string(arena, BYTES(STORE_SAMPLE_SESSION));
    session->place.path = arena_string(arena, BYTES(""));
    return true;
}

static bool scan_directory(const struct store *store, struct reading *reading, const struct snapshot *before,
                           struct snapshot *snapshot, struct error *error) {
    *error = store->refusal;
    if (!store->has_storage) return false;
    struct storage followed = storage_read_for(store->opened.storage, reading);
    followed.kept_looks = store->kept_looks;
    bool is_good = catalog_scan_again(&followed, store->logdir, before ? &before->catalog : NULL, &snapshot->arena,
                                      &snapshot->catalog, error);
    if (snapshot->catalog.storage) snapshot->catalog.storage->reading = NULL;  // of whoever wanted the scan
    return reading_goes_on(reading, store->logdir, error) && is_good;
}

// `before` is the snapshot before it, or NULL.
static struct snapshot *scan(const struct store *store, struct reading *reading, const struct snapshot *before,
                             uint64_t number, struct error *error) {
    uint64_t before_it = memory_refusals();
    struct snapshot *snapshot = memory_or_refusal(calloc(1, sizeof *snapshot));
    if (!snapshot) {
        work_out_of_memory(error);
        return NULL;
    }
    atomic_init(&snapshot->users, 1);
    snapshot->number = number;
    snapshot->mark = stillness_mark(store->stillness);
    arena_init(&snapshot->arena, SNAPSHOT_LIMIT_BYTES);
    bool is_good = store->logdir ? scan_directory(store, reading, before, snapshot, error)
                                 : sample_catalog(&snapshot->arena, &snapshot->catalog, error);
    if (!memory_was_refused(before_it, error) && is_good) return snapshot;
    snapshot_release(snapshot);
    return NULL;
}

// --- Who scans (below, but for scan_anew and the end: the lock is held) ---

static struct snapshot *take_current(struct store *store) {
    if (store->current) atomic_fetch_add(&store->current->users, 1);
    return store->current;
}

// Until the scan that is under way has ended, or a moment has passed: sees what it reads meanwhile.
static void wait_a_moment(struct store *store, struct reading *reading) {
    if (reading && store->scanner) {
        struct reading_state seen = reading_look(store->scanner);
        reading_show(reading, &seen);
    }
    (void)steady_wait(&store->scanned, &store->lock, PATIENCE_MS);
}

// Whether a scan from `wanted` on has ended, one way or the other.
static bool has_scanned(const struct store *store, uint64_t wanted) {
    return (store->current && store->current->number >= wanted) || store->failed >= wanted;
}

static void end_scan(struct store *store, uint64_t number, struct snapshot *snapshot, const struct error *error) {
    bool is_of_scanner = !snapshot && error->code == ERROR_STOPPED;  // whoever waits scans again
    if (snapshot) {
        atomic_fetch_add(&snapshot->users, 1);
        store->current = snapshot;
    } else if (!is_of_scanner) {
        store->failed = number;
        store->failure = *error;
    }
    store->is_scanning = false;
    store->scanner = NULL;
    pthread_cond_broadcast(&store->scanned);
}

static struct snapshot *scan_anew(struct store *store, struct reading *reading, struct error *error) {
    uint64_t number = ++store->started;
    store->is_scanning = true;
    store->scanner = reading;
    struct snapshot *before = take_current(store);
    pthread_mutex_unlock(&store->lock);
    struct snapshot *snapshot = scan(store, reading, before, number, error);
    snapshot_release(before);
    pthread_mutex_lock(&store->lock);
    struct snapshot *old = snapshot ? store->current : NULL;
    end_scan(store, number, snapshot, error);
    pthread_mutex_unlock(&store->lock);
    snapshot_release(old);
    pthread_mutex_lock(&store->lock);
    return snapshot;
}

// A snapshot of scan `wanted` or later.
static struct snapshot *scan_of(struct store *store, struct reading *reading, uint64_t wanted, struct error *error) {
    while (!has_scanned(store, wanted) && store->is_scanning) {
        if (!reading_goes_on(reading, store->logdir ? store->logdir : "", error)) return NULL;
        wait_a_moment(store, reading);
    }
    if (!has_scanned(store, wanted)) return scan_anew(store, reading, error);
    if (store->current && store->current->number >= wanted) return take_current(store);
    *error = store->failure;
    return NULL;
}

// Whether a scan would find what the last one found. What is being written may be whole now though nothing was written,
// and what could not be read may be readable.
static bool stands_still(const struct store *store) {
    const struct snapshot *current = store->current;
    bool is_whole = current && store->failed < current->number && current->catalog.pending_count == 0 &&
                    current->catalog.left_out_count == 0;
    if (is_whole && stillness_holds(store->stillness, &current->mark)) return true;
    stillness_is_missed(store->stillness);
    return false;
}

static const struct snapshot *snapshot_of(struct store *store, struct work *work, bool wants_rescan,
                                          struct error *error) {
    pthread_mutex_lock(&store->lock);
    bool is_known = wants_rescan ? stands_still(store) : store->current != NULL;
    uint64_t wanted = wants_rescan ? store->started + 1 : store->failed + 1;
    struct snapshot *snapshot = is_known ? take_current(store) : scan_of(store, work->reading, wanted, error);
    pthread_mutex_unlock(&store->lock);
    if (!snapshot) return NULL;
    if (work_defer(work, snapshot_release, snapshot)) return snapshot;
    work_out_of_memory(error);
    return NULL;
}

const struct catalog *store_catalog(struct store *store, struct work *work, bool wants_rescan, struct error *error) {
    const struct snapshot *snapshot = snapshot_of(store, work, wants_rescan, error);
    return snapshot ? &snapshot->catalog : NULL;
}

const struct catalog *store_catalog_now(struct store *store, struct work *work, struct stillness_mark *since,
                                        struct error *error) {
    const struct snapshot *snapshot = snapshot_of(store, work, true, error);
    if (snapshot) *since = snapshot->mark;
    return snapshot ? &snapshot->catalog : NULL;
}

// --- Sessions ---

static bool sample_files(struct arena *arena, struct session *session, struct error *error) {
    struct input_file *file = arena_new(arena, struct input_file, 1);
    if (!file) return work_out_of_memory(error);
    for (size_t i = 0; i < embedded_asset_count; i++) {
        if (strcmp(embedded_assets[i].path, EMBEDDED_SAMPLE_PATH) == 0)
            file->version.size_bytes = embedded_assets[i].identity_size;
    }
    file->kind = PROFILE_FILE_XPLANE;
    file->path = arena_string(arena, BYTES(EMBEDDED_SAMPLE_PATH));
    file->name = arena_string(arena, BYTES("tpu-vm-0.xplane.pb"));
    file->host = arena_string(arena, BYTES("tpu-vm-0"));
    if (!file->path || !file->name || !file->host) return work_out_of_memory(error);
    session->name = STORE_SAMPLE_SESSION;
    session->files = (struct session_files){.files = file, .file_count = 1, .host_count = 1};
    return true;
}

static void append_names(char text[NAMES_TEXT_BYTES], const struct catalog *catalog) {
    size_t size = 0, shown = 0;
    text[0] = '\0';
    for (; shown < catalog->session_count && shown < NAMES_SHOWN; shown++) {
        int added = snprintf(text + size, NAMES_TEXT_BYTES - size, "%s%.60s",
                             shown ? ", " : " There are: ", catalog->sessions[shown].name);
        size += (size_t)added;
    }
    if (shown < catalog->session_count)
        snprintf(text + size, NAMES_TEXT_BYTES - size, " and %zu more.", catalog->session_count - shown);
    else
        snprintf(text + size, NAMES_TEXT_BYTES - size, "%s", shown ? "." : " There are no sessions.");
}

// What could not be looked into and may be the session of that name (NULL: any), or hold it: where no session is to be
// seen, that may be anything. NULL: there is none.
static const struct input_remark *hiding_place(const struct catalog *catalog, const char *name, struct arena *arena) {
    for (size_t i = 0; i < catalog->left_out_count; i++) {
        const struct input_remark *remark = &catalog->left_out[i];
        const char *run = name && remark->is_fault ? run_names_make(catalog->root, remark->path, arena) : NULL;
        bool is_it = !catalog->session_count || (run && utf8_same_text(bytes_of(run), name));
        if (remark->is_fault && is_it) return remark;
    }
    return NULL;
}

static bool is_hidden(const struct input_remark *remark, const char *name, struct error *error) {
    return error_in(error, ERROR_UNREADABLE, remark->path, ERROR_WHOLE_FILE,
                    "There is no session \"%.160s\" in what could be listed: %.300s", name, remark->reason);
}

static bool no_such_session(const struct catalog *catalog, const char *name, struct arena *arena, struct error *error) {
    const struct input_remark *hiding = hiding_place(catalog, name, arena);
    if (hiding) return is_hidden(hiding, name, error);
    for (size_t i = 0; i < catalog->pending_count; i++) {
        const char *path = catalog->pending[i].path, *slash = strrchr(path, '/');
        if (strcmp(slash ? slash + 1 : path, name) == 0)
            return error_set(error, ERROR_NOT_FOUND, "The session \"%.100s\" is not ready: %.300s", name,
                             catalog->pending[i].reason);
    }
    char known[NAMES_TEXT_BYTES];
    append_names(known, catalog);
    return error_set(error, ERROR_NOT_FOUND, "There is no session \"%.160s\".%s", name, known);
}

static const struct catalog_session *named(const struct catalog_session *sessions, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (utf8_same_text(bytes_of(sessions[i].name), name)) return &sessions[i];
    }
    return NULL;
}

// A name that is not UTF-8 comes back from clients repaired, and is then found by its repaired form.
static const struct catalog_session *session_of(const struct catalog *catalog, const char *name,
                                                enum store_listing listing) {
    const struct catalog_session *found = NULL;
    if (listing == STORE_LIST_DEVICE_MEMORY) found = named(catalog->device_memory, catalog->device_memory_count, name);
    if (!found) found = catalog_find(catalog, bytes_of(name));
    return found ? found : named(catalog->sessions, catalog->session_count, name);
}

// A session, and the snapshot that has it (NULL: it was named by its folder).
struct sighting {
    const struct catalog *catalog;
    const struct catalog_session *session;
};

static bool find_in_scan(struct store *store, struct work *work, const char *name, enum store_listing listing,
                         bool wants_rescan, struct sighting *found, struct error *error) {
    found->catalog = store_catalog(store, work, wants_rescan, error);
    found->session = found->catalog ? session_of(found->catalog, name, listing) : NULL;
    return found->session ||
           (found->catalog && wants_rescan && no_such_session(found->catalog, name, &work->arena, error));
}

// A session that is not in the last snapshot may have been written since.
static bool find_session(struct store *store, struct work *work, const char *name, enum store_listing listing,
                         struct sighting *found, struct error *error) {
    return find_in_scan(store, work, name, listing, false, found, error) ||
           (found->catalog && find_in_scan(store, work, name, listing, true, found, error));
}

static bool find_by_path(struct store *store, struct work *work, const struct session_place *place,
                         struct sighting *found, struct error *error) {
    const struct catalog *catalog = store_catalog(store, work, false, error);
    struct catalog_session *session = arena_new(&work->arena, struct catalog_session, 1);
    *found = (struct sighting){NULL, session};
    if (!session) return work_out_of_memory(error);
    return catalog && place_find(catalog, place, &work->arena, session, error);
}

static bool has_settled(const struct file_version *folder, int64_t at_s) {
    return at_s - folder->modified_s >= FOLDER_SETTLES_SECONDS;
}

static bool was_seen(const struct sighting *found, const struct file_version *folder) {
    return found->catalog && file_version_equal(&found->session->version, folder) &&
           has_settled(folder, found->catalog->scanned_s);
}

// The names that the scan saw, as long as they are those in the folder; a folder that has changed is scanned once more
// when it has settled.
static bool list_files(struct store *store, struct work *work, enum store_listing listing, struct sighting *found,
                       struct session *session, struct error *error) {
    const char *name = found->session->name;
    if (listing == STORE_LIST_SEEN && found->catalog && !was_seen(found, &session->version) &&
        has_settled(&session->version, (int64_t)time(NULL)) &&
        !find_in_scan(store, work, name, listing, true, found, error))
        return false;
    session->is_listed_anew = listing == STORE_LIST_ANEW || !was_seen(found, &session->version);
    if (session->is_listed_anew)
        return session_files_list(&found->session->place, SESSION_PROFILES_OR_HLO, &work->arena, &session->files,
                                  error);
    session->files = found->session->files;
    return true;
}

static bool need_name(const char *name, struct error *error) {
    if (name && *name) return true;
    return error_set(error, ERROR_BAD_REQUEST, "The request does not say which session (run) is meant.");
}

static bool look_at_folder(const struct work *work, const struct input_place *place, struct file_version *version,
                           struct error *error) {
    struct storage storage = storage_read_for(place->storage, work->reading);
    struct storage_entry entry;
    if (!storage_look(&storage, place->path, STORAGE_FOLLOW_LINKS, &entry, error)) return false;
    *version = entry.version;
    return true;
}

bool store_open_session(struct store *store, struct work *work, const struct session_place *place,
                        enum store_listing listing, struct session *session, struct error *error) {
    bool has_path = place->session_path || place->run_path;
    struct sighting found;
    if (!need_name(place->name, error)) return false;
    if (has_path ? !find_by_path(store, work, place, &found, error)
                 : !find_session(store, work, place->name, listing, &found, error))
        return false;
    *session = (struct session){.name = found.session->name};
    bool is_device_memory = listing == STORE_LIST_DEVICE_MEMORY;
    if (!store->logdir) return is_device_memory || sample_files(&work->arena, session, error);
    session->is_listed_anew = is_device_memory;
    if (is_device_memory)
        return session_files_list(&found.session->place, SESSION_DEVICE_MEMORY, &work->arena, &session->files, error);
    return look_at_folder(work, &found.session->place, &session->version, error) &&
           (listing == STORE_LIST_NOTHING || list_files(store, work, listing, &found, session, error));
}

const struct input_file *session_host(const struct session *session, const char *host) {
    for (size_t i = 0; i < session->files.host_count; i++) {
        if (utf8_same_text(bytes_of(session->files.files[i].host), host)) return &session->files.files[i];
    }
    return NULL;
}

bool store_session_names(struct store *store, struct work *work, const struct session_place *place,
                         struct name_list *list, struct error *error) {
    const struct catalog *catalog = store_catalog(store, work, true, error);
    if (!catalog) return false;
    if (place->session_path || place->run_path) return place_names(catalog, place, &work->arena, list, error);
    *list = (struct name_list){.names = arena_new(&work->arena, const char *, catalog->session_count + 1),
                               .left_out_count = catalog->left_out_count};
    const struct input_remark *hiding = hiding_place(catalog, NULL, &work->arena);
    if (!list->names) return work_out_of_memory(error);
    if (hiding) return error_in(error, ERROR_UNREADABLE, hiding->path, ERROR_WHOLE_FILE, "%s", hiding->reason);
    for (size_t i = 0; i < catalog->session_count; i++) list->names[list->count++] = catalog->sessions[i].name;
    return true;
}
