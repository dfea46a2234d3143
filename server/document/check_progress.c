#include "server/document/check_progress.h"

#include <string.h>

#include "server/json_read.h"

enum { TEXT_MAX = 2000, WORDS_MAX = 8 };

static const int64_t BYTES_MOST = INT64_C(1) << 60;
static const double SECONDS_MOST = 1e9;

enum kind { KIND_TEXT, KIND_WORD, KIND_COUNT, KIND_BYTES, KIND_SECONDS, KIND_TRUTH, KIND_ROWS };

struct member {
    const char *name;
    enum kind kind;
    bool may_be_null;
    const char *words[WORDS_MAX];  // of KIND_WORD: those that it may be; NULL ends them
};

static const struct member row_members[] = {
    {"id", KIND_TEXT, false, {NULL}},
    {"name", KIND_TEXT, false, {NULL}},
    {"predicted_total_bytes", KIND_BYTES, true, {NULL}},
    {"low_bytes", KIND_BYTES, true, {NULL}},
    {"high_bytes", KIND_BYTES, true, {NULL}},
    {"compiled_total_bytes", KIND_BYTES, true, {NULL}},
    {"is_inside", KIND_TRUTH, true, {NULL}},
    {"status", KIND_WORD, false, {"compiled", "too_big", "out_of_memory", "not_in_module", "failed", NULL}},
    {"reason", KIND_TEXT, true, {NULL}},
    {"seconds", KIND_SECONDS, false, {NULL}},
};

static const struct member members_of_all[] = {
    {"state", KIND_WORD, false, {"running", "done", "failed", "stopped", NULL}},
    {"asked", KIND_WORD, false, {"changes", "flags", NULL}},
    {"target", KIND_TEXT, true, {NULL}},
    {"compiler", KIND_TEXT, true, {NULL}},
    {"total", KIND_COUNT, false, {NULL}},
    {"compiled", KIND_COUNT, false, {NULL}},
    {"compiling", KIND_TEXT, true, {NULL}},
    {"reason", KIND_TEXT, true, {NULL}},
    {"rows", KIND_ROWS, false, {NULL}},
};

struct form {
    const struct member *members;
    size_t count;
};

static const struct form form_of_row = {row_members, sizeof row_members / sizeof row_members[0]};
static const struct form form_of_all = {members_of_all, sizeof members_of_all / sizeof members_of_all[0]};

// --- One value ---

static bool is_word(const struct member *member, const json_t *value) {
    const char *text = json_string_value(value);
    for (size_t i = 0; text && i < WORDS_MAX && member->words[i]; i++) {
        if (strcmp(text, member->words[i]) == 0) return true;
    }
    return false;
}

static bool is_from_0_to(const json_t *value, int64_t most) {
    return json_is_integer(value) && json_integer_value(value) >= 0 && json_integer_value(value) <= most;
}

static bool is_good(const struct member *member, const json_t *value) {
    if (json_is_null(value)) return member->may_be_null;
    switch (member->kind) {
        case KIND_TEXT:
            return json_is_string(value) && json_string_length(value) <= TEXT_MAX;
        case KIND_WORD:
            return is_word(member, value);
        case KIND_COUNT:
            return is_from_0_to(value, CHECK_ROWS_MAX);
        case KIND_BYTES:
            return is_from_0_to(value, BYTES_MOST);
        case KIND_SECONDS:
            return json_is_number(value) && json_number_value(value) >= 0 && json_number_value(value) <= SECONDS_MOST;
        case KIND_TRUTH:
            return json_is_boolean(value);
        case KIND_ROWS:
            return json_is_array(value) && json_array_size(value) <= CHECK_ROWS_MAX;
    }
    return false;
}

static const char *wanted(enum kind kind) {
    static const char *const texts[] = {
        [KIND_TEXT] = "a text of at most 2000 bytes", [KIND_WORD] = "one of its words",
        [KIND_COUNT] = "a number from 0 to 100",      [KIND_BYTES] = "a number of bytes",
        [KIND_SECONDS] = "a number of seconds",       [KIND_TRUTH] = "true or false",
        [KIND_ROWS] = "an array of at most 100 rows",
    };
    return texts[kind];
}

// --- A whole object ---

static bool check_form(const json_t *object, const struct form *form, const char *where, struct error *error) {
    if (!json_is_object(object)) return error_set(error, ERROR_BAD_REQUEST, "%s must be a JSON object.", where);
    for (size_t i = 0; i < form->count; i++) {
        const struct member *member = &form->members[i];
        const json_t *value = json_object_get(object, member->name);
        if (value && is_good(member, value)) continue;
        return error_set(error, ERROR_BAD_REQUEST, "\"%s\" of %s must be %s%s (docs/api.md).", member->name, where,
                         wanted(member->kind), member->may_be_null ? ", or null" : "");
    }
    if (json_object_size(object) == form->count) return true;
    return error_set(error, ERROR_BAD_REQUEST, "%s has a member that is not known (docs/api.md).", where);
}

static bool check_document(const json_t *document, struct error *error) {
    if (!check_form(document, &form_of_all, "the body", error)) return false;
    const json_t *rows = json_object_get(document, "rows"), *row;
    size_t i;
    json_array_foreach(rows, i, row) {
        if (!check_form(row, &form_of_row, "a row", error)) return false;
    }
    return true;
}

static int append(const char *text, size_t size, void *output) {
    output_append(output, (struct bytes){(const uint8_t *)text, size});
    return 0;
}

// With its numbers as short as they came, as a rule: 17 digits make 8.0999999999999996 of 8.1.
enum { DIGITS_OF_REALS = 15 };

static bool write_again(const json_t *document, struct output *members, struct error *error) {
    size_t flags = JSON_COMPACT | JSON_EMBED | JSON_REAL_PRECISION(DIGITS_OF_REALS);
    bool is_written = json_dump_callback(document, append, members, flags) == 0;
    return (is_written && !members->failed) || error_set(error, ERROR_TOO_BIG, "There is no room for it.");
}

bool check_progress_read(struct bytes body, struct output *members, size_t *row_count, struct error *error) {
    json_error_t fault;
    json_t *document = json_read(body, JSON_REJECT_DUPLICATES, &fault);
    if (!document) return error_set(error, ERROR_BAD_REQUEST, "The body must be JSON: %s.", fault.text);
    bool is_good = check_document(document, error) && write_again(document, members, error);
    *row_count = json_array_size(json_object_get(document, "rows"));
    json_decref(document);
    return is_good;
}
