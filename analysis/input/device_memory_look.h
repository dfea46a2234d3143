// What is inside a file that may be a device memory profile, told from the beginning of its content.
//
//     key          |key len|.. payload ..    judged by number, type and length before anything of the payload is read
//     content      types  samples ...  names    ... up to the names of the types, or as far as a look goes
//
//     first a sample type of pprof ... one of the types is space/bytes           is one
//                                  ... not decided so far                        is one: whoever opens it learns more
//                                  ... cut or damaged before the names           is one: opening it says what is wrong
//                                  ... none is space/bytes                       is another: a pprof of CPU time
//     Python's marshalled dictionary (cProfile)                                  is another
//     anything else, or nothing                                                  is broken
//
// A look goes as far as DEVICE_MEMORY_LOOK_BYTES of the content and DEVICE_MEMORY_LOOK_FIELDS, and a reader's window
// further, whatever lengths it declares.
#pragma once

#include "analysis/input/byte_source.h"

enum { DEVICE_MEMORY_LOOK_BYTES = 16 << 20, DEVICE_MEMORY_LOOK_FIELDS = 1 << 18 };

enum device_memory_verdict {
    DEVICE_MEMORY_UNTOLD,  // it cannot be read just now, which says nothing about the content
    DEVICE_MEMORY_IS_ONE,
    DEVICE_MEMORY_IS_ANOTHER,  // a good file of something else
    DEVICE_MEMORY_IS_BROKEN,
};

// `why` is filled for all but DEVICE_MEMORY_IS_ONE, with file, offset and what was expected.
enum device_memory_verdict device_memory_look(struct byte_source *source, struct error *why);

// Whether it is worth reading as one: its first field is one of a pprof, in whatever order these come, and declares no
// more than `most_bytes`. Nothing of its payload is read.
MUST_USE bool device_memory_begins(struct byte_source *source, uint64_t most_bytes, struct error *error);
