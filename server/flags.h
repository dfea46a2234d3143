// Command line flags as a table: `--flag=value`, `--flag value`, `--switch`. Used by every command.
//
// A dash and an underscore in a name are the same. Errors are one sentence, with the nearest known flag when the name
// looks like a slip.
//
// A command that is given `--list_flags` and nothing else prints its table instead, for programs: the man page and the
// shells' completions are made of it (scripts/packaging/describe.mjs), so that they know every flag and no other.
//
//     word TAB PATH                             what stands on the line besides flags
//     flag TAB by TAB choice TAB source stack   name, kind, and what may be chosen; --help describes
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flag_kind { FLAG_TEXT, FLAG_PATH, FLAG_NUMBER, FLAG_SWITCH, FLAG_SIZE, FLAG_CAPACITY, FLAG_CHOICE, FLAG_LIST };

enum { FLAG_LIST_MAX = 32 };

// The values of a flag that may be given several times, in their order.
struct flag_list {
    const char *items[FLAG_LIST_MAX];
    size_t count;
};

struct flag_choice {
    const char *name;  // NULL after the last one
    unsigned value;
};

struct flag {
    const char *name;  // without the dashes
    enum flag_kind kind;
    const char **text;  // of a path, too: a shell completes it
    int *number;
    bool *on;
    int64_t *bytes;  // of a size (analysis/base/size_text.h); of a capacity, also a device's (device_kinds.h)
    unsigned *choice;
    const struct flag_choice *choices;  // of a switch: what it may name as well, `--check` and `--check=flags`
    struct flag_list *list;
    int min, max;  // of a number
};

struct flag_set {
    const struct flag *flags;
    size_t count;
    const char **word;         // where the first word that is no flag goes
    const char *word_name;     // what it is called, "PATH", and then one more is a problem; NULL: more are passed over
    const char **second_word;  // where the next one goes; NULL: there is none
};

#define FLAGS_LISTING "--list_flags"

enum { FLAGS_PROBLEM_BYTES = 256 };

// Reads all arguments; what is not given keeps its value. False: `problem` is one sentence, or empty where the table
// was printed and nothing is left to do.
bool flags_read(int count, char *const arguments[], const struct flag_set *set, char problem[FLAGS_PROBLEM_BYTES]);
