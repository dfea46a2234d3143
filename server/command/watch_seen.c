#include "server/command/watch_seen.h"

#include "analysis/input/file_stamp.h"
#include "analysis/input/session_stamp.h"

enum { KEYS_AT_FIRST = 1024 };

enum key_kind { KEY_SESSION, KEY_FILE, KEY_LINE, KEY_ERROR };

bool watch_seen_init(struct watch_seen *seen) {
    arena_init(&seen->arena, 0);
    if (id_map_init(&seen->keys, &seen->arena, KEYS_AT_FIRST)) return true;
    arena_free(&seen->arena);
    return false;
}

void watch_seen_free(struct watch_seen *seen) {
    arena_free(&seen->arena);
}

static uint64_t begin(enum key_kind kind, const char *name) {
    return file_stamp_with_text(file_stamp_with_number(FILE_STAMP_OF_NONE, kind), name);
}

static uint64_t with_bytes(uint64_t stamp, struct bytes text) {
    for (size_t i = 0; i < text.size; i++) stamp = file_stamp_with_number(stamp, text.data[i]);
    return file_stamp_with_number(stamp, text.size);
}

int64_t watch_key_of_session(const struct catalog_session *session) {
    return (int64_t)file_stamp_with_number(begin(KEY_SESSION, session->name), session_stamp(session));
}

int64_t watch_key_of_file(const char *session, const struct input_file *file) {
    return (int64_t)file_stamp_with(begin(KEY_FILE, session), file->path, &file->version);
}

int64_t watch_key_of_line(const struct watch_line *line) {
    uint64_t stamp = with_bytes(begin(KEY_LINE, ""), line->session);
    stamp = with_bytes(stamp, line->host.size ? line->host : line->file);
    stamp = with_bytes(stamp, line->name);
    stamp = file_stamp_with_number(stamp, line->kind);
    stamp = file_stamp_with_number(stamp, (uint64_t)line->peak_bytes);
    return (int64_t)file_stamp_with_number(stamp, (uint64_t)line->total_bytes);
}

int64_t watch_key_of_error(const struct error *error) {
    return (int64_t)file_stamp_with_text(begin(KEY_ERROR, error->file), error->message);
}

bool watch_knows(const struct watch_seen *seen, int64_t key) {
    return id_map_get(&seen->keys, key) != ID_MAP_NONE;
}

void watch_remember(struct watch_seen *seen, int64_t key) {
    uint32_t *place = id_map_place(&seen->keys, key);
    if (place) *place = 1;
}
