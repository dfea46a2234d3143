// Any bytes as the names below a log directory, one path a line: the scan ends, every session has a name of its own by
// which it is found, and every file that is listed is one of those lines.
//
//     plugins/profile/2026_11_03_10_00_00/vm.xplane.pb
//     dump/module_0001.jit_f.after_optimizations.hlo.pb
//
//     make fuzz T=server_catalog
#include <stdlib.h>
#include <string.h>

#include "analysis/base/growing_array.h"
#include "analysis/input/catalog.h"
#include "analysis/input/input_name.h"
#include "server/storage/object_tree.h"
#include "server/trend/session_time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARENA_BYTES = 256 << 20, NAMES_BYTES_MAX = 1 << 16, FILE_BYTES = 100, NAME_YEARS_MAX = 10000 };
static const int64_t LEAP_YEAR_S = INT64_C(366) * 86400;

static void require(bool holds) {
    if (!holds) abort();
}

// --- A log directory of empty promises: there are names, and every file holds zeros ---

static const char root[] = "/log";

static const struct object_tree *tree_of(const struct storage *storage) {
    return storage->state;
}

static const char *name_of(const char *path) {
    require(folder_is_below(path, root));
    return path[sizeof root - 1] ? path + sizeof root : "";
}

static bool is_missing(const char *path, struct error *error) {
    return error_in(error, ERROR_NOT_FOUND, path, ERROR_WHOLE_FILE, "there is no such name");
}

static bool look(const struct storage *storage, const char *path, enum storage_links links, struct storage_entry *entry,
                 struct error *error) {
    (void)links;
    return object_tree_look(tree_of(storage), name_of(path), entry) || is_missing(path, error);
}

static bool list(const struct storage *storage, const char *path, size_t most, struct arena *arena,
                 struct folder *folder, struct error *error) {
    return object_tree_list(tree_of(storage), name_of(path), most, arena, folder) ||
           error_in(error, ERROR_TOO_BIG, path, ERROR_WHOLE_FILE, "no memory left to list the folder");
}

static char *resolve(const struct storage *storage, const char *path, struct arena *arena, struct error *error) {
    (void)storage, (void)error;
    return arena_string(arena, bytes_of(path));
}

static bool open_zeros(const struct storage *storage, const char *path, union storage_handle *handle,
                       struct file_version *version, struct error *error) {
    const struct stored_object *object = object_tree_find(tree_of(storage), name_of(path));
    if (!object) return is_missing(path, error);
    handle->descriptor = 0;
    *version = object->version;
    return true;
}

static bool read_zeros(const struct storage *storage, union storage_handle handle, uint64_t offset, uint8_t *to,
                       size_t size, size_t *read_bytes, const char *path, struct error *error) {
    (void)storage, (void)handle, (void)path, (void)error;
    *read_bytes = offset >= FILE_BYTES ? 0 : size < FILE_BYTES - offset ? size : FILE_BYTES - (size_t)offset;
    memset(to, 0, *read_bytes);
    return true;
}

static bool is_unchanged(const struct storage *storage, union storage_handle handle,
                         const struct file_version *version) {
    (void)storage, (void)handle, (void)version;
    return true;
}

static void close_zeros(const struct storage *storage, union storage_handle handle) {
    (void)storage, (void)handle;
}

static const struct storage_calls calls = {.look = look,
                                           .list = list,
                                           .resolve = resolve,
                                           .open = open_zeros,
                                           .read = read_zeros,
                                           .is_unchanged = is_unchanged,
                                           .close = close_zeros};

// --- Its names ---

static bool is_part(struct bytes part) {
    return part.size > 0 && !bytes_equal(part, BYTES(".")) && !bytes_equal(part, BYTES(".."));
}

static bool could_be_a_path(struct bytes line) {
    if (memchr(line.data, '\0', line.size)) return false;
    for (;;) {
        const uint8_t *slash = memchr(line.data, '/', line.size);
        size_t size = slash ? (size_t)(slash - line.data) : line.size;
        if (!is_part((struct bytes){line.data, size})) return false;
        if (!slash) return true;
        line = (struct bytes){slash + 1, line.size - size - 1};
    }
}

// False at the arena's limit.
static bool add_line(struct bytes line, struct arena *arena, struct object_tree *tree) {
    if (!line.size || !could_be_a_path(line)) return true;
    struct stored_object object = {.name = arena_string(arena, line), .pin = "", .size_bytes = FILE_BYTES};
    object.version = (struct file_version){.inode = tree->object_count + 1, .size_bytes = FILE_BYTES};
    return object.name && growing_array_add(arena, tree->objects, tree->object_count, object);
}

static bool read_names(struct bytes lines, struct arena *arena, struct object_tree *tree) {
    while (lines.size > 0) {
        const uint8_t *end = memchr(lines.data, '\n', lines.size);
        size_t size = end ? (size_t)(end - lines.data) : lines.size, skipped = size + (end != NULL);
        if (!add_line((struct bytes){lines.data, size}, arena, tree)) return false;
        lines = (struct bytes){lines.data + skipped, lines.size - skipped};
    }
    object_tree_sort(tree);
    return true;
}

// --- What the catalog makes of them ---

static void check_name(const char *name) {
    int64_t time_s;
    if (session_time_of_name(name, &time_s)) require(time_s >= 0 && time_s / LEAP_YEAR_S < NAME_YEARS_MAX);
    struct bytes whole = bytes_of(name);
    struct input_name parsed = input_name_parse(whole);
    struct program_name program = program_name_parse(whole);
    require(parsed.kind == INPUT_NAME_OTHER || (parsed.stem.data == whole.data && parsed.stem.size < whole.size));
    require(program.module.data == whole.data && program.module.size <= whole.size);
    require(program.has_id || program.module.size == whole.size);
}

static void check_file(const struct input_file *file, const struct object_tree *tree) {
    require(object_tree_find(tree, name_of(file->path)) != NULL);
    require(strcmp(file->name, folder_last_name(file->path)) == 0 && file->host);
    require((file->kind == PROFILE_FILE_DUMP_PROTO || file->kind == PROFILE_FILE_DUMP_TEXT) == (file->program != NULL));
    check_name(file->name);
}

static void check_session(const struct catalog_session *session, const struct object_tree *tree) {
    const struct session_files *files = &session->files;
    require(files->host_count <= files->file_count && folder_is_below(session->place.path, root));
    for (size_t i = 0; i < files->file_count; i++) {
        check_file(&files->files[i], tree);
        require(i == 0 || i >= files->host_count || strcmp(files->files[i - 1].host, files->files[i].host) < 0);
    }
    check_name(session->name);
}

static void check_sessions(const struct catalog *catalog, const struct object_tree *tree) {
    for (size_t i = 0; i < catalog->session_count; i++) {
        const struct catalog_session *session = &catalog->sessions[i];
        check_session(session, tree);
        require(i == 0 || strcmp(session[-1].name, session->name) > 0);
        require(catalog_find(catalog, bytes_of(session->name)) == session);
    }
    for (size_t i = 0; i < catalog->device_memory_count; i++) check_session(&catalog->device_memory[i], tree);
}

static void check_catalog(const struct object_tree *tree, struct arena *arena) {
    const struct storage storage = {.calls = &calls, .appears_whole = true, .state = tree};
    struct catalog catalog, again;
    struct error error;
    if (!catalog_scan(&storage, root, arena, &catalog, &error)) {
        require(error.code != ERROR_NONE && error.message[0]);
        return;
    }
    check_sessions(&catalog, tree);
    require(catalog_scan_again(&storage, root, &catalog, arena, &again, &error));
    require(again.session_count == catalog.session_count && again.device_memory_count == catalog.device_memory_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct object_tree tree = {.prefix = "", .extent = TREE_ALL};
    if (size > NAMES_BYTES_MAX) return 0;
    arena_init(&arena, ARENA_BYTES);
    if (read_names((struct bytes){data, size}, &arena, &tree)) check_catalog(&tree, &arena);
    arena_free(&arena);
    return 0;
}
