#include "server/command/report_formats.h"

#include "server/text/fields.h"

struct csv_peak {
    const char *session, *host;
    struct bytes memory_id;
    int64_t time_ps, step;
    const char *kind;
};

static const struct field peak_fields[] = {
    FIELD("session", struct csv_peak, session),
    FIELD("host", struct csv_peak, host),
    FIELD("memory_id", struct csv_peak, memory_id),
    FIELD("time_ps", struct csv_peak, time_ps),
    FIELD("step", struct csv_peak, step),
    FIELD("kind", struct csv_peak, kind),
    FIELD_END,
};

static struct csv_row begin_row(const struct report_profile_memory *memory, const char *kind, struct output *output) {
    const struct memory_timeline *timeline = memory->overview.timeline;
    const struct report_profile_host *host = memory->of->host;
    uint32_t row = memory->breakdown.row;
    const struct csv_peak peak = {host->session->found->name, host->file->host,    timeline->memory_id,
                                  timeline->time_ps[row],     timeline->step[row], kind};
    struct csv_row csv = {.output = output};
    fields_write_csv(&csv, peak_fields, &peak);
    return csv;
}

// What no site tells: nothing but its bytes.
static void write_rest(const struct report_profile_memory *memory, const char *kind, int64_t bytes,
                       struct output *output) {
    struct csv_row csv = begin_row(memory, kind, output);
    for (const struct field *field = breakdown_fields; field[1].name; field++) csv_put_text(&csv, (struct bytes){0});
    csv_put_number(&csv, bytes);
    csv_end_row(&csv);
}

static void write_memory(const struct report_profile *p, const struct report_profile_memory *memory) {
    struct report_sink *sink = &p->report->sink;
    for (uint32_t i = 0; i < memory->rows_shown && report_sink_is_open(sink); i++) {
        struct csv_row csv = begin_row(memory, "allocations", &sink->output);
        fields_write_csv(&csv, breakdown_fields, &memory->rows[i]);
        csv_end_row(&csv);
        report_sink_drain(sink);
    }
    if (memory->rows_shown < memory->breakdown.row_count)
        write_rest(memory, "left_out", report_profile_rows_left_out_bytes(memory), &sink->output);
    if (memory->breakdown.unexplained_bytes)
        write_rest(memory, "unexplained", memory->breakdown.unexplained_bytes, &sink->output);
}

static void write_host(struct report_profile *p, const struct report_profile_host *host) {
    struct report_profile_loaded loaded;
    report_profile_load(p, host, &loaded);
    for (size_t i = 0; i < loaded.profile->timeline_count; i++) {
        struct report_profile_memory memory;
        if (report_profile_memory_make(p, &loaded, i, &memory) && report_profile_memory_look(p, &memory))
            write_memory(p, &memory);
        report_profile_memory_free(&memory);
    }
    report_profile_unload(&loaded);
}

void report_profile_csv_write(struct report_profile *p) {
    struct csv_row header = {.output = &p->report->sink.output};
    fields_write_csv_names(&header, peak_fields);
    fields_write_csv_names(&header, breakdown_fields);
    csv_end_row(&header);
    for (size_t i = 0; i < p->host_count && report_sink_is_open(&p->report->sink); i++) write_host(p, &p->hosts[i]);
    report_profile_tell_missing(p);
}
