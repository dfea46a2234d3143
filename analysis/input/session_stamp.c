#include "analysis/input/session_stamp.h"

#include "analysis/input/file_stamp.h"

uint64_t session_stamp(const struct catalog_session *session) {
    uint64_t stamp = FILE_STAMP_OF_NONE;
    for (size_t i = 0; i < session->files.file_count; i++) {
        const struct input_file *file = &session->files.files[i];
        stamp = file_stamp_with(stamp, file->name, &file->version);
    }
    return file_stamp_with_number(stamp, session->device_memory_stamp);
}

static uint64_t with_sessions(uint64_t stamp, const struct catalog_session *sessions, size_t count) {
    for (size_t i = 0; i < count; i++) {
        stamp = file_stamp_with_text(stamp, sessions[i].name);
        stamp = file_stamp_with_number(stamp, session_stamp(&sessions[i]));
    }
    return file_stamp_with_number(stamp, count);
}

uint64_t catalog_stamp(const struct catalog *catalog) {
    uint64_t stamp = with_sessions(FILE_STAMP_OF_NONE, catalog->sessions, catalog->session_count);
    stamp = with_sessions(stamp, catalog->device_memory, catalog->device_memory_count);
    for (size_t i = 0; i < catalog->pending_count; i++)
        stamp = file_stamp_with_text(stamp, catalog->pending_sessions[i].name);
    return stamp;
}
