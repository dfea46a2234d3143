// Command line flags as a table: `--flag=value`, `--flag value`, `--switch`. Used by every command.
//
// Errors are one sentence, with the nearest known flag when the name looks like a slip.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum flag_kind { FLAG_TEXT, FLAG_NUMBER, FLAG_SWITCH };

struct flag {
    const char *name;  // without the dashes
    enum flag_kind kind;
    const char **text;
    int *number;
    bool *on;
    int min, max;  // of a number
};

struct flag_set {
    const struct flag *flags;
    size_t count;
};

struct flag_walk {
    int count;
    char *const *arguments;
    int at;
};

// Reads flags up to the next word that is none, and returns that; NULL at the end, and on an error (then `problem` is
// not empty).
const char *flags_next_word(struct flag_walk *walk, const struct flag_set *set, char *problem, size_t problem_size);
