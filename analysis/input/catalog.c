#include "analysis/input/catalog.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/input/device_memory_files.h"
#include "analysis/input/dump_files.h"
#include "analysis/input/file_cursor.h"
#include "analysis/input/file_stamp.h"
#include "analysis/base/growing_array.h"
#include "analysis/base/parallel.h"
#include "analysis/input/input_name.h"
#include "analysis/input/run_names.h"
#include "analysis/input/session_files.h"

#define WHAT_TO_OPEN                                                                                                   \
    "give a log folder (one that holds plugins/profile), a session folder, a folder that --xla_dump_to filled, or a "  \
    "*.xplane.pb, *.hlo_proto.pb or *.hlo.pb file (each also .gz)"

struct scan {
    struct arena *arena;
    struct catalog *catalog;
    const struct catalog *before;  // NULL: there is none
    size_t entries_left;
    const char *outside;  // the first link to a folder outside of the root; NULL: none
    size_t outside_count;
    bool out_of_memory;
};

// A folder on the way down; the chain upwards shows where links run in a circle.
struct spot {
    const struct spot *above;
    const char *path;
    unsigned depth;
    bool is_log;    // it holds plugins
    bool is_aside;  // it lies beside a plugins folder, and is none itself
    uint64_t device, inode;
};

// --- Adding to the catalog ---

static void add_remark(struct scan *scan, struct input_remark **remarks, size_t *count, const char *path,
                       const char *reason, bool is_fault) {
    struct input_remark remark = {arena_string(scan->arena, bytes_of(path)),
                                  arena_string(scan->arena, bytes_of(reason)), is_fault};
    if (!remark.path || !remark.reason || !growing_array_add(scan->arena, *remarks, *count, remark))
        scan->out_of_memory = true;
}

static void leave_out(struct scan *scan, const char *path, const char *reason) {
    add_remark(scan, &scan->catalog->left_out, &scan->catalog->left_out_count, path, reason, false);
}

static void leave_out_of_session(struct scan *scan, const struct input_remark *remark) {
    add_remark(scan, &scan->catalog->left_out, &scan->catalog->left_out_count, remark->path, remark->reason,
               remark->is_fault);
}

static void miss(struct scan *scan, const char *path, const struct error *error) {
    add_remark(scan, &scan->catalog->left_out, &scan->catalog->left_out_count, path, error->message, true);
}

static struct input_place place_in(const struct scan *scan, const char *path) {
    return (struct input_place){scan->catalog->storage, path, scan->catalog->root};
}

static void add_to(struct scan *scan, struct catalog_session **sessions, size_t *count, const char *path,
                   struct catalog_session session) {
    session.place = place_in(scan, arena_string(scan->arena, bytes_of(path)));
    if (!session.name || !session.place.path || !growing_array_add(scan->arena, *sessions, *count, session))
        scan->out_of_memory = true;
}

static void add_pending(struct scan *scan, const char *path, struct catalog_session session, const char *file_name) {
    struct catalog *catalog = scan->catalog;
    size_t count = catalog->pending_count;
    char reason[NAME_MAX + 64];
    snprintf(reason, sizeof reason, "%s is still being written: it ends inside a message", file_name);
    add_to(scan, &catalog->pending_sessions, &count, path, session);
    add_remark(scan, &catalog->pending, &catalog->pending_count, path, reason, false);
}

static void add_device_memory(struct scan *scan, const struct input_file *file, char *name) {
    struct catalog_session session = {.name = name, .version = file->version};
    session.device_memory_stamp = file_stamp_with(FILE_STAMP_OF_NONE, file->name, &file->version);
    add_to(scan, &scan->catalog->device_memory, &scan->catalog->device_memory_count, file->path, session);
}

// --- Folders ---

// Whether the content (an XSpace or an HloProto, also gzip) ends inside a field, or there is none yet. A file that
// cannot be opened, or is wrong in another way, does not: its error shows when it is opened.
static bool ends_early(const struct input_file *file) {
    struct error error;
    struct byte_source *source = byte_source_open(file->storage, file->path, &error);
    if (!source) return false;
    struct file_cursor cursor = file_cursor_over(source);
    struct file_field field;
    while (file_cursor_next(&cursor, &field, &error)) continue;
    bool is_cut = cursor.has_failed ? error.code == ERROR_TRUNCATED : cursor.at == 0;
    byte_source_close(source);
    return is_cut;
}

struct freshness {
    const struct scan *scan;
    const struct session_files *files;
    const struct catalog_session *before;  // the session when it was scanned before, and was whole; NULL
    atomic_size_t unfinished;              // the first of the files that is still being written; else their count
};

// A compiler writes one file after the other: of a dump, what is there can be read, and a module that is not whole yet
// says so itself.
static bool is_fresh(const struct catalog *catalog, const struct input_file *file) {
    int64_t age_s = catalog->scanned_s - file->version.modified_s;  // hosts' clocks differ: it may be below zero
    bool is_of_dump = file->kind == PROFILE_FILE_DUMP_PROTO || file->kind == PROFILE_FILE_DUMP_TEXT;
    return !file->storage->appears_whole && age_s > -CATALOG_WRITING_SECONDS && age_s < CATALOG_WRITING_SECONDS &&
           !is_of_dump;
}

static bool was_whole(const struct catalog_session *before, const struct input_file *file) {
    for (size_t i = 0; before && i < before->files.file_count; i++) {
        const struct input_file *old = &before->files.files[i];
        if (strcmp(old->path, file->path) == 0) return file_version_equal(&old->version, &file->version);
    }
    return false;
}

static void check_whether_finished(void *context, size_t i, size_t worker) {
    (void)worker;
    struct freshness *freshness = context;
    const struct input_file *file = &freshness->files->files[i];
    size_t first = atomic_load(&freshness->unfinished);
    if (i > first || !is_fresh(freshness->scan->catalog, file)) return;
    if (was_whole(freshness->before, file) || !ends_early(file)) return;
    while (i < first && !atomic_compare_exchange_weak(&freshness->unfinished, &first, i)) continue;
}

// The first file that is still being written, or NULL.
static const struct input_file *unfinished_file(const struct scan *scan, const char *name,
                                                const struct session_files *files) {
    const struct catalog_session *before = scan->before && name ? catalog_find(scan->before, bytes_of(name)) : NULL;
    struct freshness freshness = {scan, files, before, files->file_count};
    parallel_each(check_whether_finished, &freshness, files->file_count);
    size_t first = atomic_load(&freshness.unfinished);
    return first < files->file_count ? &files->files[first] : NULL;
}

static void add_session_or_pending(struct scan *scan, const char *path, struct catalog_session session) {
    const struct input_file *unfinished = unfinished_file(scan, session.name, &session.files);
    if (unfinished)
        add_pending(scan, path, session, unfinished->name);
    else
        add_to(scan, &scan->catalog->sessions, &scan->catalog->session_count, path, session);
}

// Device memory profiles in a folder that is no session: each is one of its own.
static void consider_device_memory(struct scan *scan, const struct spot *spot, const struct folder *folder,
                                   struct arena *scratch) {
    const char *root = scan->catalog->root;
    struct session_files files;
    struct error error;
    struct input_place place = place_in(scan, spot->path);
    if (!session_files_in_folder(folder, &place, SESSION_DEVICE_MEMORY, scratch, &files, &error))
        return miss(scan, spot->path, &error);
    for (size_t i = 0; i < files.file_count; i++)
        add_device_memory(scan, &files.files[i], run_names_make(root, files.files[i].path, scan->arena));
}

// Lists the folder as a session if it is one: a run folder, or any with xplane files; the root also with HLO files.
static void consider_folder(struct scan *scan, const struct spot *spot, const struct folder *folder,
                            struct arena *scratch) {
    bool is_run = run_names_is_run_folder(spot->path);
    const char *root = scan->catalog->root;
    struct catalog_session session = {.version = folder->version};
    struct session_files *files = &session.files;
    struct error error;
    enum session_files_kind kind = is_run || spot->depth == 0 ? SESSION_PROFILES_OR_HLO : SESSION_PROFILES;
    struct input_place place = place_in(scan, spot->path);
    if (!session_files_in_folder(folder, &place, kind, scan->arena, files, &error))
        return miss(scan, spot->path, &error);
    for (size_t i = 0; i < files->left_out_count; i++) leave_out_of_session(scan, &files->left_out[i]);
    if (!is_run && files->file_count == 0) return consider_device_memory(scan, spot, folder, scratch);
    session.name = run_names_make(root, spot->path, scan->arena);
    session.may_hold_device_memory = device_memory_files_any(folder);
    session.device_memory_stamp = device_memory_files_stamp(folder, scan->catalog->storage, spot->path, scratch);
    add_session_or_pending(scan, spot->path, session);
}

// The first one stands for all of them.
static void note_outside(struct scan *scan, const char *path) {
    if (scan->outside_count++ == 0) scan->outside = arena_string(scan->arena, bytes_of(path));
    if (!scan->outside) scan->out_of_memory = true;
}

static void leave_out_outside(struct scan *scan) {
    char reason[160];
    size_t others = scan->outside_count - 1;
    if (scan->outside_count == 0 || !scan->outside) return;
    if (others)
        snprintf(reason, sizeof reason,
                 "a link to a folder outside the opened one, and so are %zu more; --follow_symlinks opens them",
                 others);
    else
        snprintf(reason, sizeof reason,
                 "a link to a folder outside the opened one; --follow_symlinks opens it, or open that folder itself");
    leave_out(scan, scan->outside, reason);
}

// A folder to go into: a real one, or a link to one inside the root.
static bool leads_down(struct scan *scan, const struct folder_entry *entry, const char *path) {
    if (entry->kind != ENTRY_LINK) return entry->kind == ENTRY_FOLDER;
    struct storage_link link = storage_follow(scan->catalog->storage, path, scan->catalog->root);
    if (link.kind != ENTRY_FOLDER) return false;
    if (!link.is_inside) note_outside(scan, path);
    return link.is_inside;
}

// What lies beside plugins/profile may be anything, and very much of it: checkpoints.
static bool is_aside(const struct spot *above, const char *path) {
    return above && (above->is_log || above->is_aside) && strcmp(folder_last_name(path), "plugins") != 0;
}

static bool holds_plugins(const struct folder *folder) {
    for (size_t i = 0; i < folder->entry_count; i++) {
        const struct folder_entry *entry = &folder->entries[i];
        if (entry->kind == ENTRY_FOLDER && strcmp(entry->name, "plugins") == 0) return true;
    }
    return false;
}

static bool is_circle(const struct spot *spot) {
    for (const struct spot *above = spot->above; above; above = above->above) {
        if (above->device == spot->device && above->inode == spot->inode) return true;
    }
    return false;
}

static bool scan_folder(struct scan *scan, const struct spot *above, const char *path, struct error *error);

static void scan_folders_below(struct scan *scan, const struct spot *spot, const struct folder *folder,
                               struct arena *scratch) {
    for (size_t i = 0; i < folder->entry_count && !scan->out_of_memory && scan->entries_left > 0; i++) {
        const struct folder_entry *entry = &folder->entries[i];
        if (entry->kind != ENTRY_FOLDER && entry->kind != ENTRY_LINK) continue;
        char *path = folder_join(scratch, spot->path, entry->name);
        struct error error;
        if (!path)
            scan->out_of_memory = true;
        else if (!leads_down(scan, entry, path))
            continue;
        else if (spot->depth == CATALOG_MAX_DEPTH)
            leave_out(scan, path, "too deep: more than 32 folders below the opened one");
        else if (!scan_folder(scan, spot, path, &error))
            miss(scan, path, &error);
    }
}

static void scan_entries(struct scan *scan, const struct spot *spot, const struct folder *folder,
                         struct arena *scratch) {
    if (is_circle(spot)) return leave_out(scan, spot->path, "a link to a folder that it lies in");
    scan->entries_left -= folder->entry_count;
    if (folder->has_more) {
        scan->entries_left = 0;
        leave_out(scan, spot->path, "more than 1048576 files and folders; open a folder further down");
    }
    consider_folder(scan, spot, folder, scratch);
    scan_folders_below(scan, spot, folder, scratch);
}

// The names of one folder live as long as the scan is inside it.
static bool scan_folder(struct scan *scan, const struct spot *above, const char *path, struct error *error) {
    struct arena scratch;
    struct folder folder;
    struct storage storage = *scan->catalog->storage;
    storage.is_aside = is_aside(above, path);
    arena_init(&scratch, 0);
    bool ok = storage_list(&storage, path, scan->entries_left, &scratch, &folder, error);
    if (ok) {
        unsigned depth = above ? above->depth + 1 : 0;
        struct spot spot = {
            above, path, depth, holds_plugins(&folder), storage.is_aside, folder.version.device, folder.version.inode};
        scan_entries(scan, &spot, &folder, &scratch);
    }
    arena_free(&scratch);
    if (ok || !storage.is_aside || error->code != ERROR_TOO_BIG) return ok;
    leave_out(scan, path, error->message);
    return true;
}

// --- One file ---

static bool is_no_profile(const char *path, const char *why, struct error *error) {
    return error_in(error, ERROR_BAD_REQUEST, path, ERROR_WHOLE_FILE, "%s; %s", why, WHAT_TO_OPEN);
}

static bool is_no_device_memory(const struct input_place *place, struct error *error) {
    struct error why;
    bool is_told = device_memory_name_fits(bytes_of(folder_last_name(place->path))) &&
                   device_memory_file_is_none(place->storage, place->path, &why);
    if (!is_told) return is_no_profile(place->path, "its name is not that of a profile", error);
    return error_in(error, why.code, place->path, why.offset, "%.300s; %s", why.message, WHAT_TO_OPEN);
}

// A file whose name says nothing: a device memory profile may have any.
static bool scan_other_file(struct scan *scan, const struct input_place *place, struct error *error) {
    struct session_files files;
    if (!session_files_list(place, SESSION_DEVICE_MEMORY, scan->arena, &files, error)) return false;
    if (files.file_count == 0) return is_no_device_memory(place, error);
    add_device_memory(scan, &files.files[0], files.files[0].name);
    return true;
}

static bool scan_file(struct scan *scan, struct error *error) {
    struct input_place place = place_in(scan, scan->catalog->root);
    struct bytes file_name = bytes_of(folder_last_name(place.path));
    struct input_name name = input_name_parse(file_name);
    struct catalog_session session = {.name = arena_string(scan->arena, name.stem)};
    if (name.kind == INPUT_NAME_OTHER && !dump_files_is_module(file_name)) return scan_other_file(scan, &place, error);
    if (!session_files_list(&place, SESSION_PROFILES_OR_HLO, scan->arena, &session.files, error)) return false;
    if (session.files.file_count == 0) return is_no_profile(place.path, "it is not a regular file", error);
    session.version = session.files.files[0].version;
    add_session_or_pending(scan, place.path, session);
    return true;
}

// --- Names ---

// Reverse by name; of equal names the run folder first, then by path.
static int compare_sessions(const void *a, const void *b) {
    const struct catalog_session *left = a, *right = b;
    int order = strcmp(right->name, left->name);
    if (order) return order;
    bool left_runs = run_names_is_run_folder(left->place.path), right_runs = run_names_is_run_folder(right->place.path);
    return left_runs != right_runs ? right_runs - left_runs : strcmp(left->place.path, right->place.path);
}

static bool rename_session(struct catalog_session *session, struct arena *arena) {
    char *longer = arena_printf(arena, "./%s", session->name);
    if (longer) session->name = longer;
    return longer != NULL;
}

// Renames all but the first of equal names in the sorted list.
static bool rename_duplicates(struct catalog_session *sessions, size_t count, struct arena *arena, bool *renamed) {
    const char *taken = NULL;
    *renamed = false;
    for (size_t i = 0; i < count; i++) {
        struct catalog_session *session = &sessions[i];
        bool is_taken = taken && strcmp(taken, session->name) == 0;
        taken = session->name;
        if (is_taken && !rename_session(session, arena)) return false;
        *renamed = *renamed || is_taken;
    }
    return true;
}

// Puts the sessions into reverse lexicographic order and makes their names differ. False at the arena's limit.
static bool order_sessions(struct catalog_session *sessions, size_t count, struct arena *arena) {
    bool renamed = true;
    while (renamed) {
        if (count > 1) qsort(sessions, count, sizeof *sessions, compare_sessions);
        if (!rename_duplicates(sessions, count, arena, &renamed)) return false;
    }
    return true;
}

// The device memory profiles in their order; no name is taken twice, the sessions' included.
static bool order_device_memory(struct catalog *catalog, struct arena *arena) {
    for (size_t i = 0; i < catalog->device_memory_count; i++) {
        struct catalog_session *session = &catalog->device_memory[i];
        while (session->name && catalog_find(catalog, bytes_of(session->name)))
            session->name = arena_printf(arena, "./%s", session->name);
        if (!session->name) return false;
    }
    return order_sessions(catalog->device_memory, catalog->device_memory_count, arena);
}

// --- The whole ---

// Adds to the reason what to do about it. Of a place that is there and cannot be read, its storage has said that.
static bool cannot_open(const char *path, const struct error *reason, struct error *error) {
    bool is_there = reason->code == ERROR_UNREADABLE;
    return error_in(error, reason->code, path, ERROR_WHOLE_FILE, "%s%s%s", reason->message, is_there ? "" : "; ",
                    is_there ? "" : WHAT_TO_OPEN);
}

// A file keeps the name it was given, also when it is a link; a folder is where it really is.
static char *resolve_file(const struct storage *storage, const char *path, struct arena *arena, struct error *error) {
    const char *name = folder_last_name(path);
    char *folder = arena_printf(arena, "%.*s.", (int)(name - path), path);
    char *resolved = folder ? storage_resolve(storage, folder, arena, error) : NULL;
    return resolved ? folder_join(arena, resolved, name) : NULL;
}

static bool scan_root(struct scan *scan, enum entry_kind kind, struct error *error) {
    const char *root = scan->catalog->root;
    struct error reason;
    if (kind != ENTRY_FOLDER) return scan_file(scan, error);
    return scan_folder(scan, NULL, root, &reason) || cannot_open(root, &reason, error);
}

// Links are judged when a folder is listed, and may be others when they are opened: so that is judged as well. A file
// has others beside it, wherever the link leads that it may be.
static bool find_root(struct catalog *catalog, const char *path, struct arena *arena, enum entry_kind *kind,
                      struct error *reason) {
    struct storage_entry entry;
    if (!catalog->storage || !storage_look(catalog->storage, path, STORAGE_FOLLOW_LINKS, &entry, reason)) return false;
    *kind = entry.kind;
    catalog->root = entry.kind == ENTRY_FOLDER ? storage_resolve(catalog->storage, path, arena, reason)
                                               : resolve_file(catalog->storage, path, arena, reason);
    if (entry.kind == ENTRY_FOLDER) catalog->storage->root = catalog->root;
    return catalog->root != NULL;
}

static struct storage *own_storage(const struct storage *storage, struct arena *arena) {
    struct storage *own = arena_new(arena, struct storage, 1);
    if (own) *own = *storage;
    return own;
}

bool catalog_scan(const struct storage *storage, const char *path, struct arena *arena, struct catalog *catalog,
                  struct error *error) {
    return catalog_scan_again(storage, path, NULL, arena, catalog, error);
}

bool catalog_scan_again(const struct storage *storage, const char *path, const struct catalog *before,
                        struct arena *arena, struct catalog *catalog, struct error *error) {
    *catalog = (struct catalog){.storage = own_storage(storage, arena), .scanned_s = (int64_t)time(NULL)};
    struct scan scan = {
        .arena = arena, .catalog = catalog, .before = before, .entries_left = SESSION_FILES_MAX_ENTRIES};
    struct error reason = {.code = ERROR_TOO_BIG, .message = "no memory left for its name"};
    enum entry_kind kind;
    if (!find_root(catalog, path, arena, &kind, &reason)) return cannot_open(path, &reason, error);
    if (!scan_root(&scan, kind, error)) return false;
    leave_out_outside(&scan);
    if (!order_sessions(catalog->sessions, catalog->session_count, arena) || !order_device_memory(catalog, arena))
        scan.out_of_memory = true;
    if (!scan.out_of_memory) return true;
    return error_in(error, ERROR_TOO_BIG, catalog->root, ERROR_WHOLE_FILE,
                    "no memory left for the list of sessions; give a folder further down");
}

const struct catalog_session *catalog_find(const struct catalog *catalog, struct bytes name) {
    size_t low = 0, high = catalog->session_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = bytes_compare(bytes_of(catalog->sessions[middle].name), name);
        if (order == 0) return &catalog->sessions[middle];
        if (order > 0)  // reverse order: the greater names come first
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
