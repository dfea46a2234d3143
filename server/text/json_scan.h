// What stands where in a JSON text, without a tree: for texts of files, which may be of any size.
//
//     {"a": 1, "list": [{"b": 2}, 3]}   json_member("list") -> [{"b": 2}, 3]   json_next_entry -> {"b": 2}, then 3
//
// A tree takes some eighty times as much as a text of empty objects. This takes nothing: it steps over values by their
// quotes and brackets, so what it steps over may be no JSON and is not looked at; a text that ends too soon, or goes on
// behind its last bracket, has no members. Escapes in keys are not read. json_read.h makes trees.
#pragma once

#include <stdbool.h>

#include "proto/bytes.h"

// The value of a key, as it is written, the last where there are several. Nothing (size 0): there is none, or `object`
// is no object.
struct bytes json_member(struct bytes object, struct bytes key);

// Where the first entry of a list is looked for, then the next one: start with the list as it is written.
struct json_entries {
    struct bytes rest;
    bool has_begun;
};

// False: there is no further one, or no list.
bool json_next_entry(struct json_entries *entries, struct bytes *entry);

// What stands between the quotes, where it is a text; else the value itself.
struct bytes json_unquoted(struct bytes value);
