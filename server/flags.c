#include "server/flags.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/device_kinds.h"
#include "analysis/base/size_text.h"

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

static char plain(char c) {
    return c == '-' ? '_' : c;
}

static bool is_name(const char *known, const char *name, size_t size) {
    size_t i = 0;
    while (i < size && known[i] && plain(known[i]) == plain(name[i])) i++;
    return i == size && !known[i];
}

static const struct flag *find(const struct flag_set *set, const char *name, size_t size) {
    for (size_t i = 0; i < set->count; i++) {
        if (is_name(set->flags[i].name, name, size)) return &set->flags[i];
    }
    return NULL;
}

// --- Values ---

static bool set_number(const struct flag *flag, const char *value, char *problem) {
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (errno || end == value || *end || number < flag->min || number > flag->max) {
        snprintf(problem, FLAGS_PROBLEM_BYTES, "--%s wants a number from %d to %d, not \"%.60s\".", flag->name,
                 flag->min, flag->max, value);
        return false;
    }
    *flag->number = (int)number;
    return true;
}

static bool set_size(const struct flag *flag, const char *value, char *problem) {
    if (size_text_read(value, flag->bytes)) return true;
    snprintf(problem, FLAGS_PROBLEM_BYTES, "--%s wants a size such as 15.75G, 16GiB or 17179869184, not \"%.60s\".",
             flag->name, value);
    return false;
}

static bool set_capacity(const struct flag *flag, const char *value, char *problem) {
    if (device_capacity_read(value, flag->bytes)) return true;
    snprintf(problem, FLAGS_PROBLEM_BYTES,
             "--%s wants a size such as 15.75G or 17179869184, or a device such as v5e or H100, not \"%.60s\".",
             flag->name, value);
    return false;
}

// "text, json or markdown"
static void list_choices(const struct flag_choice *choices, char *text, size_t text_size) {
    size_t size = 0;
    for (const struct flag_choice *at = choices; at->name && size < text_size; at++) {
        const char *before = at == choices ? "" : at[1].name ? ", " : " or ";
        size += (size_t)snprintf(text + size, text_size - size, "%s%s", before, at->name);
    }
}

static bool set_choice(const struct flag *flag, const char *value, char *problem) {
    char known[FLAGS_PROBLEM_BYTES / 2];
    for (const struct flag_choice *at = flag->choices; at->name; at++) {
        if (strcmp(value, at->name) != 0) continue;
        *flag->choice = at->value;
        return true;
    }
    list_choices(flag->choices, known, sizeof known);
    snprintf(problem, FLAGS_PROBLEM_BYTES, "There is no %s \"%.60s\"; give %s.", flag->name, value, known);
    return false;
}

// A switch may say --switch=true or --switch=false, as XProf's flags allow; one with choices also names one of them.
static bool set_switch(const struct flag *flag, const char *value, char *problem) {
    bool is_false = value && (strcmp(value, "false") == 0 || strcmp(value, "0") == 0);
    if (value && !is_false && strcmp(value, "true") != 0 && strcmp(value, "1") != 0) {
        *flag->on = flag->choices != NULL;
        if (flag->choices) return set_choice(flag, value, problem);
        snprintf(problem, FLAGS_PROBLEM_BYTES, "--%s is a switch and takes no value.", flag->name);
        return false;
    }
    *flag->on = !is_false;
    return true;
}

static bool add_to_list(const struct flag *flag, const char *value, char *problem) {
    if (value[0] && flag->list->count < FLAG_LIST_MAX) {
        flag->list->items[flag->list->count++] = value;
        return true;
    }
    if (value[0])
        snprintf(problem, FLAGS_PROBLEM_BYTES, "--%s may be given %d times at most.", flag->name, FLAG_LIST_MAX);
    else
        snprintf(problem, FLAGS_PROBLEM_BYTES, "--%s wants a value.", flag->name);
    return false;
}

static bool set_value(const struct flag *flag, const char *value, char *problem) {
    if (flag->kind == FLAG_NUMBER) return set_number(flag, value, problem);
    if (flag->kind == FLAG_SIZE) return set_size(flag, value, problem);
    if (flag->kind == FLAG_CAPACITY) return set_capacity(flag, value, problem);
    if (flag->kind == FLAG_CHOICE) return set_choice(flag, value, problem);
    if (flag->kind == FLAG_LIST) return add_to_list(flag, value, problem);
    if (value[0]) {
        *flag->text = value;
        return true;
    }
    snprintf(problem, FLAGS_PROBLEM_BYTES, "--%s wants a value.", flag->name);
    return false;
}

// --- Arguments ---

struct walk {
    int count;
    char *const *arguments;
    int at;
};

static bool report_unknown(const struct flag_set *set, const char *name, size_t size, char *problem) {
    char copy[FLAG_NAME_MAX * 2];
    snprintf(copy, sizeof copy, "%.*s", (int)(size < sizeof copy ? size : sizeof copy - 1), name);
    const char *guess = nearest(set, copy);
    if (guess)
        snprintf(problem, FLAGS_PROBLEM_BYTES, "There is no flag --%s; did you mean --%s?", copy, guess);
    else
        snprintf(problem, FLAGS_PROBLEM_BYTES, "There is no flag --%s; see hbmview --help.", copy);
    return false;
}

static bool read_flag(struct walk *walk, const struct flag_set *set, const char *name, char *problem) {
    if (strcmp(name, "h") == 0) name = "help";
    size_t size = strcspn(name, "=");
    const char *value = name[size] ? name + size + 1 : NULL;
    const struct flag *flag = find(set, name, size);
    if (!flag) return report_unknown(set, name, size, problem);
    if (flag->kind == FLAG_SWITCH) return set_switch(flag, value, problem);
    if (!value && walk->at < walk->count) value = walk->arguments[walk->at++];
    return set_value(flag, value ? value : "", problem);
}

static bool take_word(const struct flag_set *set, const char *word, char *problem) {
    const char **place = *set->word && set->second_word ? set->second_word : set->word;
    bool is_taken = *place != NULL;
    if (!is_taken) *place = word;
    if (!is_taken || !set->word_name) return true;
    if (set->second_word)
        snprintf(problem, FLAGS_PROBLEM_BYTES, "Two %s at a time: \"%.80s\" is one more.", set->word_name, word);
    else
        snprintf(problem, FLAGS_PROBLEM_BYTES, "One %s at a time: \"%.80s\" and \"%.80s\" are two.", set->word_name,
                 *place, word);
    return false;
}

static const char *kind_name(enum flag_kind kind) {
    static const char *const names[] = {
        [FLAG_TEXT] = "text", [FLAG_PATH] = "path",         [FLAG_NUMBER] = "number", [FLAG_SWITCH] = "switch",
        [FLAG_SIZE] = "size", [FLAG_CAPACITY] = "capacity", [FLAG_CHOICE] = "choice", "text"};
    return names[kind];
}

static void print_listing(const struct flag_set *set) {
    if (set->word_name) printf("word\t%s\n", set->second_word ? "A B" : set->word_name);
    for (size_t i = 0; i < set->count; i++) {
        const struct flag *flag = &set->flags[i];
        printf("flag\t%s\t%s", flag->name, kind_name(flag->kind));
        for (const struct flag_choice *at = flag->choices; at && at->name; at++)
            printf("%c%s", at == flag->choices ? '\t' : ' ', at->name);
        printf("\n");
    }
}

bool flags_read(int count, char *const arguments[], const struct flag_set *set, char problem[FLAGS_PROBLEM_BYTES]) {
    struct walk walk = {count, arguments, 0};
    if (count == 1 && strcmp(arguments[0], FLAGS_LISTING) == 0) {
        print_listing(set);
        problem[0] = '\0';
        return false;
    }
    while (walk.at < walk.count) {
        const char *argument = walk.arguments[walk.at++];
        bool is_word = argument[0] != '-' || !argument[1];
        const char *name = argument + (argument[0] == '-' && argument[1] == '-' ? 2 : 1);
        if (!(is_word ? take_word(set, argument, problem) : read_flag(&walk, set, name, problem))) return false;
    }
    return true;
}
