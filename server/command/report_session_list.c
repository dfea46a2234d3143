#include "server/command/report_session_list.h"

#include "analysis/input/session_stamp.h"
#include "server/document/remark_fields.h"
#include "server/live/event_text.h"
#include "server/text/error_json.h"
#include "server/trend/session_time.h"

struct listed_session {
    const char *name, *path, *date, *version;
    int64_t time_s, modified_s;
};

static const struct field listed_fields[] = {
    FIELD("name", struct listed_session, name),
    FIELD("path", struct listed_session, path),
    FIELD("date", struct listed_session, date),
    FIELD("time_s", struct listed_session, time_s),
    FIELD("modified_s", struct listed_session, modified_s),
    FIELD("version", struct listed_session, version),
    FIELD_END,
};

struct listed_sessions {
    struct listed_session *rows;
    size_t count;
};

static bool look_at(struct report *report, const struct catalog_session *session, struct listed_session *row) {
    struct arena *arena = &report->work.arena;
    char version[CATALOG_VERSION_BYTES];
    catalog_version_text(session_stamp(session), version);
    *row = (struct listed_session){.name = session->name,
                                   .path = session->place.path,
                                   .version = arena_printf(arena, "%s", version),
                                   .time_s = session->version.modified_s,
                                   .modified_s = session->version.modified_s};
    session_time_of_name(session->name, &row->time_s);
    row->date = session_date(row->time_s, false, arena);
    return row->version != NULL;
}

static struct listed_sessions list(struct report *report, const struct catalog_session *sessions, size_t count) {
    struct listed_sessions listed = {arena_new(&report->work.arena, struct listed_session, count), 0};
    while (listed.rows && listed.count < count && look_at(report, &sessions[listed.count], &listed.rows[listed.count]))
        listed.count++;
    if (listed.count < count)
        report_errors_say(&report->errors, ERROR_TOO_BIG, NULL,
                          "There is not enough memory for the list of sessions; give a folder further down.");
    return listed;
}

static void write_json(struct report *report, struct listed_sessions sessions, struct listed_sessions device_memory) {
    const struct catalog *catalog = &report->catalog;
    struct json_writer w = json_writer_on(&report->sink.output);
    json_open_object(&w);
    fields_write_objects_key(&w, "sessions", listed_fields, sessions.rows, sessions.count, sizeof *sessions.rows);
    fields_write_objects_key(&w, "device_memory", listed_fields, device_memory.rows, device_memory.count,
                             sizeof *device_memory.rows);
    fields_write_objects_key(&w, "pending", remark_fields, catalog->pending, catalog->pending_count,
                             sizeof *catalog->pending);
    fields_write_objects_key(&w, "left_out", remark_fields, catalog->left_out, catalog->left_out_count,
                             sizeof *catalog->left_out);
    errors_json_write(&w, report->errors.items, report->errors.count);
    json_close_object(&w);
    output_append_char(w.output, '\n');
}

static void put_csv(struct report *report, struct listed_sessions listed) {
    for (size_t i = 0; i < listed.count && report_sink_is_open(&report->sink); i++) {
        struct csv_row csv = {.output = &report->sink.output};
        fields_write_csv(&csv, listed_fields, &listed.rows[i]);
        csv_end_row(&csv);
        report_sink_drain(&report->sink);
    }
}

static void write_csv(struct report *report, struct listed_sessions sessions, struct listed_sessions device_memory) {
    struct csv_row csv = {.output = &report->sink.output};
    fields_write_csv_names(&csv, listed_fields);
    csv_end_row(&csv);
    put_csv(report, sessions);
    put_csv(report, device_memory);
}

static void add_rows(struct table *table, struct listed_sessions listed) {
    for (size_t i = 0; i < listed.count; i++)
        TABLE_ADD(table, listed.rows[i].name, listed.rows[i].date, listed.rows[i].version, listed.rows[i].path);
}

static void write_text(struct report *report, struct listed_sessions sessions, struct listed_sessions device_memory) {
    static const struct table_column columns[] = {{"SESSION", TABLE_SHRINKING, false},
                                                  {"DATE", TABLE_LEFT, false},
                                                  {"VERSION", TABLE_LEFT, false},
                                                  {"PATH", TABLE_BELOW, false}};
    struct arena *arena = &report->work.arena;
    struct page page = report_page_on(report, &report->sink.output, arena);
    struct table table = table_make(columns, sizeof columns / sizeof *columns, arena);
    add_rows(&table, sessions);
    add_rows(&table, device_memory);
    page_table(&page, &table);
    for (size_t i = 0; i < report->catalog.pending_count; i++)
        page_paragraph(
            &page, arena_printf(arena, "%s: %s", report->catalog.pending[i].path, report->catalog.pending[i].reason));
}

void report_session_list_write(struct report *report) {
    struct listed_sessions sessions = {NULL, 0}, device_memory = {NULL, 0};
    const struct catalog *catalog = &report->catalog;
    if (report_find_sessions(report)) {
        if (catalog->session_count) sessions = list(report, catalog->sessions, catalog->session_count);
        if (catalog->device_memory_count)
            device_memory = list(report, catalog->device_memory, catalog->device_memory_count);
        device_memory.count ? report_tell_left_out(report) : report_tell_missing(report);
    }
    if (report->options.format == FORMAT_JSON)
        write_json(report, sessions, device_memory);
    else if (report->options.format == FORMAT_CSV)
        write_csv(report, sessions, device_memory);
    else
        write_text(report, sessions, device_memory);
}
