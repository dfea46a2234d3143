#include "analysis/input/file_completeness.h"

#include "analysis/input/file_cursor.h"

bool file_completeness_ends_early(const char *path) {
    struct error error;
    struct byte_source *source = byte_source_open(path, &error);
    if (!source) return false;
    struct file_cursor cursor = file_cursor_over(source);
    struct file_field field;
    while (file_cursor_next(&cursor, &field, &error)) continue;
    bool ends_early = cursor.has_failed ? error.code == ERROR_TRUNCATED : cursor.at == 0;
    byte_source_close(source);
    return ends_early;
}
