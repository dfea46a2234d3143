#include "analysis/memory/dump_facts.h"

#include "analysis/input/byte_source.h"
#include "analysis/input/dump_files.h"

enum { REPORT_BYTES_MAX = 256 << 20 };

static bool load(const struct storage *storage, const char *path, struct arena *arena, struct bytes *content,
                 struct error *error) {
    struct byte_source *source = byte_source_open(storage, path, error);
    uint64_t size;
    bool is_good = source && byte_source_size(source, &size, error) &&
                   byte_source_load(source, 0, size, REPORT_BYTES_MAX, arena, content, error);
    byte_source_close(source);
    return is_good;
}

static void read_report(const struct storage *storage, const char *path, bool is_text, struct arena *arena,
                        struct dump_facts *facts) {
    struct bytes content;
    struct error error;
    facts->report_path = path;
    facts->has_report = load(storage, path, arena, &content, &error) &&
                        (is_text ? usage_report_of_text(content, arena, &facts->report, &error)
                                 : usage_report_of_proto(content, arena, &facts->report, &error));
    if (facts->has_report) return;
    facts->report_problem = error.offset < 0
                                ? arena_string(arena, bytes_of(error.message))
                                : arena_printf(arena, "%s (at byte %lld)", error.message, (long long)error.offset);
}

void dump_facts_read(const struct input_file *file, struct arena *arena, struct dump_facts *facts) {
    const struct storage *storage = file->storage;
    const char *path = file->path;
    *facts = (struct dump_facts){.is_text = file->kind == PROFILE_FILE_DUMP_TEXT};
    if (file->kind == PROFILE_FILE_XPLANE || file->kind == PROFILE_FILE_DEVICE_MEMORY) return;
    const char *proto = dump_files_beside(storage, path, DUMP_PART_REPORT_PROTO, arena);
    const char *text = proto ? NULL : dump_files_beside(storage, path, DUMP_PART_REPORT_TEXT, arena);
    if (proto || text) read_report(storage, proto ? proto : text, !proto, arena, facts);
    facts->oom_path = dump_files_beside(storage, path, DUMP_PART_OOM_PROTO, arena);
    if (!facts->oom_path) facts->oom_path = dump_files_beside(storage, path, DUMP_PART_OOM_TEXT, arena);
    facts->has_program_text = facts->is_text && dump_files_beside(storage, path, DUMP_PART_PROGRAM, arena);
    facts->has_live_ranges = facts->is_text && dump_files_beside(storage, path, DUMP_PART_LIVE_RANGE, arena);
}
