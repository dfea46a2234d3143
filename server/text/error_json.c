#include "server/text/error_json.h"

#include "server/text/fields.h"

// What is told of an error besides its code.
struct told_error {
    const char *code, *message, *file;
    int64_t offset;
};

static const struct field error_fields[] = {
    FIELD("code", struct told_error, code),
    FIELD("message", struct told_error, message),
    FIELD("file", struct told_error, file),
    FIELD_AS("offset", struct told_error, offset, FIELD_KNOWN),
    FIELD_END,
};

void error_json_write_as(struct json_writer *w, const char *code, const struct error *error) {
    const struct told_error told = {code, error->message, error->file[0] ? error->file : NULL, error->offset};
    fields_write_object(w, error_fields, &told);
}

void error_json_write(struct json_writer *w, const struct error *error) {
    json_key(w, "error");
    if (error && error->code != ERROR_NONE)
        error_json_write_as(w, error_code_name(error->code), error);
    else
        json_write_null(w);
}

void errors_json_write(struct json_writer *w, const struct error *errors, size_t count) {
    json_open_array_key(w, "errors");
    for (size_t i = 0; i < count; i++) error_json_write_as(w, error_code_name(errors[i].code), &errors[i]);
    json_close_array(w);
}
