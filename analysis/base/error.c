#include "analysis/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 5, 0))) static void fill(struct error *error, enum error_code code, const char *file,
                                                       int64_t offset, const char *format, va_list arguments) {
    error->code = code;
    error->offset = offset;
    snprintf(error->file, sizeof error->file, "%s", file);
    vsnprintf(error->message, sizeof error->message, format, arguments);
}

bool error_set(struct error *error, enum error_code code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(error, code, "", -1, format, arguments);
    va_end(arguments);
    return false;
}

bool error_at(struct error *error, enum error_code code, int64_t offset, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(error, code, "", offset, format, arguments);
    va_end(arguments);
    return false;
}

bool error_in(struct error *error, enum error_code code, const char *file, int64_t offset, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(error, code, file, offset, format, arguments);
    va_end(arguments);
    return false;
}

bool error_in_file(struct error *error, const char *file, int64_t base_offset) {
    if (error->file[0]) return false;
    snprintf(error->file, sizeof error->file, "%s", file);
    if (error->offset >= 0) error->offset += base_offset;
    return false;
}

const char *error_code_name(enum error_code code) {
    static const char *const names[ERROR_CODE_COUNT] = {
        [ERROR_NONE] = "none",
        [ERROR_NOT_FOUND] = "not_found",
        [ERROR_UNREADABLE] = "unreadable",
        [ERROR_TRUNCATED] = "truncated",
        [ERROR_MALFORMED] = "malformed",
        [ERROR_TOO_BIG] = "too_big",
        [ERROR_BAD_REQUEST] = "bad_request",
        [ERROR_STOPPED] = "stopped",
        [ERROR_NO_MEMORY] = "out_of_memory",
    };
    return code < ERROR_CODE_COUNT ? names[code] : "unknown";
}

enum error_code error_code_of(const char *name) {
    int code = name ? ERROR_CODE_COUNT : ERROR_NONE;
    while (--code > ERROR_NONE && strcmp(error_code_name((enum error_code)code), name) != 0) continue;
    return code > ERROR_NONE ? (enum error_code)code : ERROR_NONE;
}
