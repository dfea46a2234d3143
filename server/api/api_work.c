#include "server/api/api.h"

#include "server/app.h"
#include "server/http/under_way.h"
#include "server/text/fields.h"

static const struct field row_fields[] = {
    FIELD_AS("request", struct under_way_row, target, FIELD_TEXT),
    FIELD("waited_ms", struct under_way_row, waited_ms),
    FIELD("read_bytes", struct under_way_row, reading.read_bytes),
    FIELD("wanted_bytes", struct under_way_row, reading.wanted_bytes),
    FIELD("listed_names", struct under_way_row, reading.listed_names),
    FIELD("files", struct under_way_row, reading.file_count),
    FIELD_END,
};

// A path is the row's own array: no text of a field's kind.
static void write_row(const struct under_way_row *row, struct json_writer *w) {
    json_open_object(w);
    json_write_text_key(w, "path", row->reading.path);
    fields_write(w, row_fields, row);
    json_close_object(w);
}

bool api_work(struct request *request, struct reply *reply, struct error *error) {
    struct under_way_row *rows;
    size_t row_count;
    struct output *output = reply_output(request, error);
    if (!output) return false;
    if (!under_way_tell(request->app->under_way, request->work.reading, &request->work.arena, &rows, &row_count))
        return work_out_of_memory(error);
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    json_open_array_key(&w, "requests");
    for (size_t i = 0; i < row_count; i++) write_row(&rows[i], &w);
    json_close_array(&w);
    json_close_object(&w);
    return reply_written(reply, REPLY_JSON, output, error);
}
