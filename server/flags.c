#include "server/flags.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLAG_NAME_MAX = 32, SLIP_DISTANCE_MAX = 3 };

// How many letters to insert, delete or change to get from `a` to `b` (Levenshtein, one row).
static size_t edit_distance(const char *a, const char *b) {
    size_t row[FLAG_NAME_MAX + 1], b_size = strlen(b);
    for (size_t j = 0; j <= b_size; j++) row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b_size; j++) {
            size_t change = diagonal + (a[i] != b[j]), skip = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            diagonal = row[j + 1];
            row[j + 1] = change < skip ? change : skip;
        }
    }
    return row[b_size];
}

static const char *nearest(const struct flag_set *set, const char *name) {
    const char *best = NULL;
    size_t best_distance = SLIP_DISTANCE_MAX + 1;
    for (size_t i = 0; i < set->count; i++) {
        size_t distance = edit_distance(name, set->flags[i].name);
        if (distance < best_distance) best = set->flags[i].name, best_distance = distance;
    }
    return best;
}

static const struct flag *find(const struct flag_set *set, const char *name, size_t size) {
    for (size_t i = 0; i < set->count; i++) {
        const char *known = set->flags[i].name;
        if (strlen(known) == size && strncmp(known, name, size) == 0) return &set->flags[i];
    }
    return NULL;
}

static bool set_number(const struct flag *flag, const char *value, char *problem, size_t problem_size) {
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (errno || end == value || *end || number < flag->min || number > flag->max) {
        snprintf(problem, problem_size, "--%s wants a number from %d to %d, not \"%.60s\".", flag->name, flag->min,
                 flag->max, value);
        return false;
    }
    *flag->number = (int)number;
    return true;
}

static bool set_value(const struct flag *flag, const char *value, char *problem, size_t problem_size) {
    if (flag->kind == FLAG_NUMBER) return set_number(flag, value, problem, problem_size);
    if (!value[0]) {
        snprintf(problem, problem_size, "--%s wants a value.", flag->name);
        return false;
    }
    *flag->text = value;
    return true;
}

// A switch may say --switch=true or --switch=false, as XProf's flags allow.
static bool set_switch(const struct flag *flag, const char *value, char *problem, size_t problem_size) {
    bool is_false = value && (strcmp(value, "false") == 0 || strcmp(value, "0") == 0);
    if (value && !is_false && strcmp(value, "true") != 0 && strcmp(value, "1") != 0) {
        snprintf(problem, problem_size, "--%s is a switch and takes no value.", flag->name);
        return false;
    }
    *flag->on = !is_false;
    return true;
}

static void report_unknown(const struct flag_set *set, const char *name, size_t size, char *problem,
                           size_t problem_size) {
    char copy[FLAG_NAME_MAX * 2];
    snprintf(copy, sizeof copy, "%.*s", (int)(size < sizeof copy ? size : sizeof copy - 1), name);
    const char *guess = nearest(set, copy);
    if (guess)
        snprintf(problem, problem_size, "There is no flag --%s; did you mean --%s?", copy, guess);
    else
        snprintf(problem, problem_size, "There is no flag --%s; see hbmview --help.", copy);
}

static bool read_flag(struct flag_walk *walk, const struct flag_set *set, const char *name, char *problem,
                      size_t problem_size) {
    size_t size = strcspn(name, "=");
    const char *value = name[size] ? name + size + 1 : NULL;
    const struct flag *flag = find(set, name, size);
    if (!flag) {
        report_unknown(set, name, size, problem, problem_size);
        return false;
    }
    if (flag->kind == FLAG_SWITCH) return set_switch(flag, value, problem, problem_size);
    if (!value && walk->at < walk->count) value = walk->arguments[walk->at++];
    return set_value(flag, value ? value : "", problem, problem_size);
}

const char *flags_next_word(struct flag_walk *walk, const struct flag_set *set, char *problem, size_t problem_size) {
    problem[0] = '\0';
    while (walk->at < walk->count) {
        const char *argument = walk->arguments[walk->at++];
        if (argument[0] != '-' || !argument[1]) return argument;
        const char *name = argument + (argument[1] == '-' ? 2 : 1);
        if (strcmp(name, "h") == 0) name = "help";
        if (!read_flag(walk, set, name, problem, problem_size)) return NULL;
    }
    return NULL;
}
