// Texts as parts of a URL, and back. No state; texts may hold any bytes.
//
//     "a b/(1)+ü"    URL_PATH    a%20b/%281%29%2B%C3%BC        "/" stays
//                    URL_VALUE   a%20b%2F%281%29%2B%C3%BC      all but letters, digits and - . _ ~
#pragma once

#include "analysis/base/arena.h"

enum url_part { URL_PATH, URL_VALUE };

// NULL at the arena's limit.
const char *url_escape(struct bytes text, enum url_part part, struct arena *arena);

// A text of an address as users give it: what no address may hold ("ä", " ", "<") is escaped, the rest stays, "%" too.
const char *url_escape_rest(struct bytes text, struct arena *arena);

// The bytes that a text stands for which was escaped as in a form, as S3 does in its lists ("+" is a space, "%2B" a
// plus), on the arena; a "%" that begins no escape stays. No data at the arena's limit.
struct bytes url_unescape_form(struct bytes text, struct arena *arena);
