// Reads JSON, by jansson, and stops where the system has no memory for it.
//
//     text ──json_loadb──> allocate ──NULL──> it ends here, gives back what it has, and says NULL
//
// jansson 2.14 does not look whether its lexer could keep a byte: a text loses letters, or its end, past which is read
// then. So a refusal never returns to it while it reads. When it builds or writes, where it does look, it is told NULL.
//
// All of it counts in memory_room.h: a tree may take eighty times as much as its text. So whoever reads what a stranger
// sends says how much it may take at most.
//
// Does not say what the text should hold: jansson's own functions ask for that.
#pragma once

#include <jansson.h>

#include "proto/bytes.h"

// All of jansson's memory from here on, for the whole process; before anything is read. Refusals are counted
// (analysis/base/refused_memory.h).
void json_read_begin(void);

// The document, to be given back by json_decref; `flags` are those of json_loadb. NULL: it is no JSON, as *fault says,
// which may be NULL, or there was no memory.
json_t *json_read(struct bytes text, size_t flags, json_error_t *fault);

// The same of a text that a stranger wrote: NULL as well where it would take more than so many bytes at once, which is
// no refusal of the system's.
json_t *json_read_within(struct bytes text, size_t flags, size_t most_bytes, json_error_t *fault);

// Of what json_dumps gave; NULL is fine.
void json_text_free(char *text);
