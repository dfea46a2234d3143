// The form of a JSON answer, said shortly in the program, and written as JSON Schema:
//
//     {session: s, rows: [{key: s, share: n?}], plan?: *, buffers: <i>}
//
//     s i n b    string, int64, number, boolean          *      anything
//     {k: T}     an object with these members; `k?` may be missing
//     [T]  <T>   an array of T; an object whose keys are of the profile, with a T each
//     T?         T, or null
//
// The forms are the program's own: none comes from a request.
#pragma once

#include "server/text/json_writer.h"

void answer_schema_write(const char *form, struct json_writer *w);
