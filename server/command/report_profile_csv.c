#include "server/command/report_profile_csv.h"

#include "analysis/profile/events/data_type_name.h"
#include "server/text/csv_row.h"

static const char HEADER[] = "session,host,memory_id,time_ps,step,kind,op,region_type,data_type,shape,occurrences,"
                             "requested_bytes,allocated_bytes,total_bytes\n";

static struct csv_row begin_row(const struct report_profile_memory *memory, const char *kind, struct output *output) {
    const struct memory_timeline *timeline = memory->overview.timeline;
    struct csv_row row = {.output = output};
    csv_put_text(&row, bytes_of(memory->of->host->session->name));
    csv_put_text(&row, bytes_of(memory->of->host->file->host));
    csv_put_text(&row, timeline->memory_id);
    csv_put_number(&row, timeline->time_ps[memory->breakdown.row]);
    csv_put_number(&row, timeline->step[memory->breakdown.row]);
    csv_put_text(&row, bytes_of(kind));
    return row;
}

static void write_site(const struct report_profile_memory *memory, uint32_t i, struct output *output) {
    char name[DATA_TYPE_NAME_BYTES];
    const struct memory_breakdown_row *shown = &memory->breakdown.rows[i];
    const struct allocation_site *site = &memory->overview.profile->sites.sites[shown->site];
    struct csv_row row = begin_row(memory, "allocations", output);
    csv_put_text(&row, site->op);
    csv_put_text(&row, site->region_type);
    csv_put_text(&row, bytes_of(data_type_name(site->data_type, name)));
    csv_put_text(&row, site->shape);
    csv_put_number(&row, shown->occurrences);
    csv_put_number(&row, site->requested_bytes);
    csv_put_number(&row, site->allocated_bytes);
    csv_put_number(&row, shown->total_bytes);
    csv_end_row(&row);
}

static void write_rest(const struct report_profile_memory *memory, const char *kind, int64_t bytes,
                       struct output *output) {
    enum { EMPTY = 7 };
    struct csv_row row = begin_row(memory, kind, output);
    for (int i = 0; i < EMPTY; i++) csv_put_text(&row, (struct bytes){0});
    csv_put_number(&row, bytes);
    csv_end_row(&row);
}

static void write_memory(const struct report_profile *p, const struct report_profile_memory *memory) {
    struct report_sink *sink = &p->report->sink;
    for (uint32_t i = 0; i < memory->rows_shown && report_sink_is_open(sink); i++) {
        write_site(memory, i, &sink->output);
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
    for (size_t i = 0; i < loaded.profile.timeline_count; i++) {
        struct report_profile_memory memory;
        if (report_profile_memory_make(p, &loaded, i, &memory) && report_profile_memory_look(p, &memory))
            write_memory(p, &memory);
        report_profile_memory_free(&memory);
    }
    report_profile_unload(&loaded);
}

void report_profile_csv_write(struct report_profile *p) {
    output_append(&p->report->sink.output, BYTES(HEADER));
    for (size_t i = 0; i < p->host_count && report_sink_is_open(&p->report->sink); i++) write_host(p, &p->hosts[i]);
    report_profile_tell_missing(p);
}
