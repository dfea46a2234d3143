// A document made short, for readers who pay by the word: of every list of objects the first few, and beside it how
// many are not there.
//
//     {"fixes": [a, b, c, d]}                          top 2     {"fixes": [a, b], "fixes_left_out": 2}
//     {"rows": [a, b, c], "left_out": 4,               top 1     {"rows": [a], "left_out": 6,
//      "left_out_bytes": 9}                                       "left_out_bytes": 9 + the size_bytes of b and c}
//
// Where the document counts already what is left out of a list, what is cut is added there. Lists of texts and numbers
// (notes, evidence) stay whole. The documents are our own, so their depth is known.
#pragma once

#include <jansson.h>

#include "server/text/output.h"

// At most `top` objects of each list, at any depth.
void json_shorten(json_t *document, size_t top);

// The same for one list of `object`.
void json_shorten_list(json_t *object, const char *key, size_t top);

// Puts the objects of a list in order, those with the most in `by` first; equal ones stay as they are.
void json_sort_list(json_t *object, const char *key, const char *by);

// Shortens an output that holds one document and nothing else, with the list `sorted` put in order before (NULL: none).
// Out of memory it turns failed.
void json_shorten_output(struct output *output, size_t top, const char *sorted, const char *by);
