#include "server/text/error_json.h"

void error_json_write_as(struct json_writer *w, const char *code, const struct error *error) {
    json_open_object(w);
    json_write_text_key(w, "code", code);
    json_write_text_key(w, "message", error->message);
    json_write_text_key(w, "file", error->file[0] ? error->file : NULL);
    json_key(w, "offset");
    if (error->offset >= 0)
        json_write_int64(w, error->offset);
    else
        json_write_null(w);
    json_close_object(w);
}

void error_json_write(struct json_writer *w, const struct error *error) {
    if (error)
        error_json_write_as(w, error_code_name(error->code), error);
    else
        json_write_null(w);
}
