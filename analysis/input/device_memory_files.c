#include "analysis/input/device_memory_files.h"

#include "analysis/base/refused_memory.h"
#include "analysis/base/text_scan.h"
#include "analysis/input/device_memory_look.h"
#include "analysis/input/file_stamp.h"
#include "analysis/input/input_name.h"

// --- The name ---

bool device_memory_name_fits(struct bytes file_name) {
    if (input_name_parse(file_name).kind != INPUT_NAME_OTHER) return false;
    (void)text_cut_ending(&file_name, BYTES(".gz"));
    if (bytes_ends_with(file_name, BYTES(".hlo_proto.pb"))) return false;  // XProf's NO_MODULE
    return text_cut_ending(&file_name, BYTES(".prof")) || text_cut_ending(&file_name, BYTES(".pprof")) ||
           text_cut_ending(&file_name, BYTES(".pb"));
}

bool device_memory_name_promises(struct bytes file_name) {
    if (!device_memory_name_fits(file_name)) return false;
    (void)text_cut_ending(&file_name, BYTES(".gz"));
    return bytes_ends_with(file_name, BYTES(".prof")) || bytes_ends_with(file_name, BYTES(".pprof"));
}

// --- The content ---

struct content {
    const struct storage *storage;
    const char *path;
    const struct file_version *version;
};

// A version that was seen before the look and after it is that of what was looked at.
static bool is_of_version(const struct byte_source *source, const struct file_version *version) {
    struct file_version opened = byte_source_version(source);
    return file_version_equal(&opened, version) && byte_source_is_unchanged(source);
}

static enum device_memory_verdict look_at(const struct content *content, bool *lasts, struct error *why) {
    uint64_t refusals = memory_refusals();
    *lasts = false;
    struct byte_source *source = byte_source_open(content->storage, content->path, why);
    if (!source) return why->code == ERROR_NOT_FOUND ? DEVICE_MEMORY_IS_ANOTHER : DEVICE_MEMORY_UNTOLD;
    enum device_memory_verdict verdict = device_memory_look(source, why);
    if (memory_refusals() != refusals) verdict = DEVICE_MEMORY_UNTOLD;
    *lasts = verdict != DEVICE_MEMORY_UNTOLD && is_of_version(source, content->version);
    byte_source_close(source);
    return verdict;
}

static unsigned look_and_keep(const void *context, bool *lasts) {
    struct error ignored;
    return look_at(context, lasts, &ignored);
}

static enum device_memory_verdict verdict_of(const struct content *content) {
    bool ignored;
    struct kept_looks *kept = content->storage->kept_looks;
    if (!kept || !file_version_is_known(content->version)) return look_and_keep(content, &ignored);
    return (enum device_memory_verdict)kept->look(kept, content->version, look_and_keep, content);
}

bool device_memory_file_fits(const struct storage *storage, const char *path, const struct file_version *version,
                             bool *is_broken) {
    const struct content content = {storage, path, version};
    enum device_memory_verdict verdict = verdict_of(&content);
    *is_broken = verdict == DEVICE_MEMORY_IS_BROKEN && device_memory_name_promises(bytes_of(folder_last_name(path)));
    return *is_broken || verdict == DEVICE_MEMORY_IS_ONE || verdict == DEVICE_MEMORY_UNTOLD;
}

bool device_memory_file_is_none(const struct storage *storage, const char *path, struct error *why) {
    bool ignored;
    const struct content content = {storage, path, &(struct file_version){0}};
    return look_at(&content, &ignored, why) != DEVICE_MEMORY_IS_ONE;
}

bool device_memory_files_any(const struct folder *folder) {
    for (size_t i = 0; i < folder->entry_count; i++) {
        if (device_memory_name_fits(bytes_of(folder->entries[i].name))) return true;
    }
    return false;
}

uint64_t device_memory_files_stamp(const struct folder *folder, const struct storage *storage, const char *path,
                                   struct arena *scratch) {
    uint64_t stamp = FILE_STAMP_OF_NONE;
    for (size_t i = 0; i < folder->entry_count; i++) {
        const struct folder_entry *entry = &folder->entries[i];
        if (!device_memory_name_fits(bytes_of(entry->name))) continue;
        const char *file = folder_join(scratch, path, entry->name);
        struct file_version version;
        if (file && storage_look_at_file(storage, file, STORAGE_SEE_LINKS, &version))
            stamp = file_stamp_with(stamp, entry->name, &version);
    }
    return stamp;
}
