// What went wrong, where, and what was expected: filled once, at the place that found out, and handed up unchanged.
//
//     MUST_USE bool f(struct arena *arena, inputs..., out, struct error *error);     // false: *error is filled
//
// `message` is a sentence for the user. `file` and `offset` say where in the input it is, when it is about the input.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MUST_USE __attribute__((warn_unused_result))

enum error_code {
    ERROR_NONE = 0,
    ERROR_NOT_FOUND,    // no such session, host, module, buffer, file
    ERROR_UNREADABLE,   // the system refused: permissions, I/O
    ERROR_TRUNCATED,    // the file ends inside a message
    ERROR_MALFORMED,    // the bytes are not what the format says
    ERROR_TOO_BIG,      // a limit was passed; the message names it
    ERROR_BAD_REQUEST,  // the caller's words are off
    ERROR_STOPPED,      // nobody waits for it any more
    ERROR_NO_MEMORY,    // the system had none, or no descriptor: about now, never about the file (refused_memory.h)
    ERROR_CODE_COUNT,
};

enum { ERROR_MESSAGE_BYTES = 512, ERROR_FILE_BYTES = 512 };

struct error {
    enum error_code code;
    int64_t offset;  // byte offset in `file`; -1 when there is none
    char file[ERROR_FILE_BYTES];
    char message[ERROR_MESSAGE_BYTES];
};

// Each fills *error and returns false, so that a check reads `return error_set(...)`: without a place (file empty,
// offset -1), at a byte of what is being read, in a file (offset ERROR_WHOLE_FILE: no byte of it is to blame).
__attribute__((format(printf, 3, 4))) bool error_set(struct error *error, enum error_code code, const char *format,
                                                     ...);
__attribute__((format(printf, 4, 5))) bool error_at(struct error *error, enum error_code code, int64_t offset,
                                                    const char *format, ...);
__attribute__((format(printf, 5, 6))) bool error_in(struct error *error, enum error_code code, const char *file,
                                                    int64_t offset, const char *format, ...);
enum { ERROR_WHOLE_FILE = -1 };

// For an error that comes from something which knew no file: says in which one it was, if nobody said so before.
// `base_offset` is added to the offset: a blob that was parsed on its own gets the place it has in the file.
// Returns false.
bool error_in_file(struct error *error, const char *file, int64_t base_offset);

// The code as scripts see it: "not_found", "truncated", ...
const char *error_code_name(enum error_code code);

// The code of that name; ERROR_NONE: there is none (NULL has none).
enum error_code error_code_of(const char *name);
