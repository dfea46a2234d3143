#include "analysis/input/session_files.h"

#include <stdlib.h>

#include "analysis/base/parallel.h"
#include "analysis/input/device_memory_files.h"
#include "analysis/input/dump_files.h"
#include "analysis/base/growing_array.h"
#include "analysis/input/input_name.h"
#include "analysis/input/run_names.h"

static bool out_of_memory(const char *path, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, path, ERROR_WHOLE_FILE, "no memory left to list the session's files");
}

static bool add_remark(struct session_files *files, const char *path, const char *reason, bool is_fault,
                       struct arena *arena) {
    struct input_remark remark = {path, arena_string(arena, bytes_of(reason)), is_fault};
    return remark.reason && growing_array_add(arena, files->left_out, files->left_out_count, remark);
}

static bool leave_out(struct session_files *files, const char *path, const char *reason, struct arena *arena) {
    return add_remark(files, path, reason, false, arena);
}

static bool miss(struct session_files *files, const char *path, const char *reason, struct arena *arena) {
    return add_remark(files, path, reason, true, arena);
}

// Fills what the name and the system say. False when memory ran out; `path` is not yet looked at.
static bool describe(struct input_file *file, const struct input_place *place, const char *path, const char *name,
                     struct arena *arena) {
    struct input_name parsed = input_name_parse(bytes_of(name));
    bool is_xplane = parsed.kind == INPUT_NAME_XPLANE;
    bool is_text = dump_name_parse(bytes_of(name)).part == DUMP_PART_ASSIGNMENT;
    bool is_hlo = parsed.kind == INPUT_NAME_HLO;
    *file = (struct input_file){
        .storage = place->storage,
        .path = path,
        .name = arena_string(arena, bytes_of(name)),
        .host = arena_string(arena, is_xplane ? parsed.stem : (struct bytes){0}),
        .kind = is_xplane ? PROFILE_FILE_XPLANE
                : is_text ? PROFILE_FILE_DUMP_TEXT
                : is_hlo  ? PROFILE_FILE_HLO
                          : PROFILE_FILE_DEVICE_MEMORY,
    };
    return file->name && file->host;
}

// One to a file inside the root.
static bool is_link_good(const struct storage_link *link) {
    return link->kind == ENTRY_FILE && link->is_inside;
}

// Says why not, when that is worth a remark. False: memory ran out.
static bool leave_out_link(const struct storage_link *link, const char *path, struct arena *arena,
                           struct session_files *files) {
    if (link->kind == ENTRY_LINK) return miss(files, path, "a link that leads nowhere", arena);
    if (link->kind != ENTRY_FILE) return true;
    return leave_out(
        files, path,
        "a link that leads out of the opened folder; --follow_symlinks opens it, or open the folder it leads to",
        arena);
}

enum wanted { WANT_XPLANE, WANT_HLO, WANT_HLO_OF_NO_DUMP, WANT_DUMP_MODULE, WANT_DEVICE_MEMORY };

static bool is_wanted(struct bytes name, enum wanted wanted) {
    enum input_name_kind kind = input_name_parse(name).kind;
    if (wanted == WANT_XPLANE) return kind == INPUT_NAME_XPLANE;
    if (wanted == WANT_DUMP_MODULE) return dump_files_is_module(name);
    if (wanted == WANT_DEVICE_MEMORY) return device_memory_name_fits(name);
    return kind == INPUT_NAME_HLO && (wanted == WANT_HLO || dump_name_parse(name).part == DUMP_PART_NONE);
}

// An entry whose name is that of such a profile file: what the storage says of it, asked side by side with the others.
struct candidate {
    struct input_file file;
    struct storage_link link;  // of an ENTRY_LINK
    enum entry_kind kind;
    bool is_there, fits;
};

struct candidates {
    const struct input_place *place;
    enum wanted wanted;
    struct candidate *all;
    size_t count;
};

static bool note_candidate(const struct folder_entry *entry, struct candidates *candidates, struct arena *arena) {
    if (!is_wanted(bytes_of(entry->name), candidates->wanted)) return true;
    if (entry->kind != ENTRY_FILE && entry->kind != ENTRY_LINK) return true;
    char *path = folder_join(arena, candidates->place->path, entry->name);
    struct candidate candidate = {.kind = entry->kind};
    return path && describe(&candidate.file, candidates->place, path, entry->name, arena) &&
           growing_array_add(arena, candidates->all, candidates->count, candidate);
}

// What the system cannot tell of just now stays in the list, of no version: whoever opens it learns why.
static bool is_there(const struct storage *storage, const char *path, struct file_version *version) {
    struct storage_entry entry;
    struct error why;
    if (!storage_look(storage, path, STORAGE_FOLLOW_LINKS, &entry, &why)) return why.code != ERROR_NOT_FOUND;
    *version = entry.version;
    return entry.kind == ENTRY_FILE;
}

static void ask_about(void *context, size_t i, size_t worker) {
    (void)worker;
    const struct candidates *candidates = context;
    struct candidate *one = &candidates->all[i];
    const struct storage *storage = candidates->place->storage;
    if (one->kind == ENTRY_LINK) one->link = storage_follow(storage, one->file.path, candidates->place->root);
    if (one->kind == ENTRY_LINK && !is_link_good(&one->link)) return;
    one->is_there = is_there(storage, one->file.path, &one->file.version);
    one->fits = one->is_there &&
                (candidates->wanted != WANT_DEVICE_MEMORY ||
                 device_memory_file_fits(storage, one->file.path, &one->file.version, &one->file.is_broken));
}

// False when memory ran out.
static bool take_candidate(const struct candidate *one, struct arena *arena, struct session_files *files) {
    if (one->kind == ENTRY_LINK && !is_link_good(&one->link))
        return leave_out_link(&one->link, one->file.path, arena, files);
    if (!one->is_there) return miss(files, one->file.path, "it went away while the folder was read", arena);
    return !one->fits || growing_array_add(arena, files->files, files->file_count, one->file);
}

// By host, the plain file before its .gz; HLO files (no host) by name.
static int compare_files(const void *a, const void *b) {
    const struct input_file *left = a, *right = b;
    int order = strcmp(left->host, right->host);
    return order ? order : strcmp(left->name, right->name);
}

static bool take_all(const struct folder *folder, enum wanted wanted, const struct input_place *place,
                     struct arena *arena, struct session_files *files) {
    struct candidates candidates = {.place = place, .wanted = wanted};
    for (size_t i = 0; i < folder->entry_count; i++) {
        if (!note_candidate(&folder->entries[i], &candidates, arena)) return false;
    }
    parallel_each(ask_about, &candidates, candidates.count);
    for (size_t i = 0; i < candidates.count; i++) {
        if (!take_candidate(&candidates.all[i], arena, files)) return false;
    }
    if (wanted != WANT_DUMP_MODULE && files->file_count > 1)
        qsort(files->files, files->file_count, sizeof *files->files, compare_files);
    return true;
}

static bool take_dump(const struct folder *folder, const struct input_place *place, struct arena *arena,
                      struct session_files *files) {
    if (!take_all(folder, WANT_HLO_OF_NO_DUMP, place, arena, files)) return false;
    size_t others = files->file_count;
    if (!take_all(folder, WANT_DUMP_MODULE, place, arena, files)) return false;
    size_t modules = files->file_count - others;
    if (modules == 0) return true;
    if (!dump_files_name(files->files + others, &modules, arena)) return false;
    files->file_count = others + modules;
    return true;
}

// Many of them may hold a program of one name: of several files each is known by its own.
static void name_hosts_of_hlo(struct session_files *files) {
    for (size_t i = 0; i < files->file_count && files->file_count > 1; i++) {
        if (files->files[i].kind == PROFILE_FILE_HLO) files->files[i].host = files->files[i].name;
    }
}

// Of a sorted list, one file per host.
static bool keep_one_per_host(struct session_files *files, struct arena *arena) {
    size_t kept = 0;
    for (size_t i = 0; i < files->file_count; i++) {
        struct input_file file = files->files[i];
        if (kept == 0 || strcmp(files->files[kept - 1].host, file.host) != 0)
            files->files[kept++] = file;
        else if (!leave_out(files, file.path, "the same host's uncompressed file is beside it", arena))
            return false;
    }
    files->file_count = files->host_count = kept;
    return true;
}

bool session_files_in_folder(const struct folder *folder, const struct input_place *place, enum session_files_kind kind,
                             struct arena *arena, struct session_files *files, struct error *error) {
    *files = (struct session_files){0};
    if (kind == SESSION_DEVICE_MEMORY)
        return take_all(folder, WANT_DEVICE_MEMORY, place, arena, files) || out_of_memory(place->path, error);
    bool ok = take_all(folder, WANT_XPLANE, place, arena, files) && keep_one_per_host(files, arena);
    if (!ok) return out_of_memory(place->path, error);
    if (files->host_count > 0) return true;
    if (!run_names_is_run_folder(place->path) && dump_files_any(folder))
        ok = take_dump(folder, place, arena, files);
    else if (kind == SESSION_PROFILES_OR_HLO)
        ok = take_all(folder, WANT_HLO, place, arena, files);
    name_hosts_of_hlo(files);
    return ok || out_of_memory(place->path, error);
}

static bool list_single_file(const struct input_place *place, const struct file_version *version,
                             enum session_files_kind kind, struct arena *arena, struct session_files *files,
                             struct error *error) {
    bool wants_device_memory = kind == SESSION_DEVICE_MEMORY;
    struct input_file file;
    *files = (struct session_files){0};
    if (!describe(&file, place, place->path, folder_last_name(place->path), arena))
        return out_of_memory(place->path, error);
    file.version = *version;
    if (wants_device_memory != (file.kind == PROFILE_FILE_DEVICE_MEMORY)) return true;
    if (wants_device_memory && !device_memory_file_fits(place->storage, file.path, version, &file.is_broken))
        return true;
    if (!growing_array_add(arena, files->files, files->file_count, file)) return out_of_memory(place->path, error);
    files->host_count = file.kind == PROFILE_FILE_XPLANE;
    return true;
}

bool session_files_list(const struct input_place *place, enum session_files_kind kind, struct arena *arena,
                        struct session_files *files, struct error *error) {
    struct storage_entry entry;
    struct folder folder;
    *files = (struct session_files){0};
    if (!storage_look(place->storage, place->path, STORAGE_FOLLOW_LINKS, &entry, error)) return false;
    if (entry.kind == ENTRY_FILE) return list_single_file(place, &entry.version, kind, arena, files, error);
    if (entry.kind != ENTRY_FOLDER) return true;
    return storage_list(place->storage, place->path, SESSION_FILES_MAX_ENTRIES, arena, &folder, error) &&
           session_files_in_folder(&folder, place, kind, arena, files, error);
}
