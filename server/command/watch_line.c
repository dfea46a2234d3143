#include "server/command/watch_line.h"

#include <inttypes.h>
#include <time.h>

#include "analysis/base/size_text.h"
#include "analysis/memory/memory_totals.h"
#include "server/text/json_writer.h"
#include "server/text/printable.h"

enum { TIME_BYTES = 40, HBM = 0 };

// --- Text ---

static void put_time(const struct watch_line *line, struct output *output) {
    char text[TIME_BYTES] = "";
    time_t written = (time_t)line->written_s;
    struct tm parts;
    if (localtime_r(&written, &parts)) (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S  ", &parts);
    output_put(output, text);
}

static void put_name(const struct watch_line *line, struct arena *arena, struct output *output) {
    const char *host = printable_text(line->host.size ? line->host : line->file, arena);
    output_put(output, printable_text(line->session, arena));
    if (!bytes_equal(line->session, bytes_of(host))) output_put(output, arena_printf(arena, " / %s", host));
    if (line->host_count > 1) output_put(output, arena_printf(arena, " +%zu", line->host_count - 1));
    if (line->name.size) output_put(output, arena_printf(arena, " / %s", printable_text(line->name, arena)));
    output_put(output, ": ");
}

static void put_share(const struct watch_line *line, struct arena *arena, struct output *output) {
    if (!line->capacity_bytes) return;
    double percent = 100 * (double)line->peak_bytes / (double)line->capacity_bytes;
    output_put(output, arena_printf(arena, " of %s (%.0f%%)", size_string(line->capacity_bytes, arena), percent));
}

static void put_figures(const struct watch_line *line, struct arena *arena, struct output *output) {
    const char *peak = size_string(line->peak_bytes, arena);
    char space[MEMORY_SPACE_NAME_BYTES];
    if (line->kind == WATCH_DEVICE_MEMORY)
        output_put(output, arena_printf(arena, "%s in use", peak));
    else
        output_put(output, arena_printf(arena, "peak %s", peak));
    if (line->kind == WATCH_PROGRAM && line->space != HBM)
        output_put(output, arena_printf(arena, " in %s", memory_space_name(line->space, space)));
    put_share(line, arena, output);
    if (line->has_total) output_put(output, arena_printf(arena, ", total %s", size_string(line->total_bytes, arena)));
    if (line->top.size)
        output_put(output, arena_printf(arena, "; %s %s", printable_text(line->top, arena),
                                        size_string(line->top_bytes, arena)));
    if (line->limit_bytes) output_put(output, arena_printf(arena, "; ABOVE %s", size_string(line->limit_bytes, arena)));
}

void watch_line_write_text(const struct watch_line *line, struct output *output) {
    struct arena scratch;
    arena_init(&scratch, 0);
    put_time(line, output);
    put_name(line, &scratch, output);
    put_figures(line, &scratch, output);
    output_append_char(output, '\n');
    arena_free(&scratch);
}

// --- JSON ---

static void write_time(const struct watch_line *line, struct json_writer *w) {
    char text[TIME_BYTES] = "";
    time_t written = (time_t)line->written_s;
    struct tm parts;
    if (gmtime_r(&written, &parts)) (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    json_write_text_key(w, "time", text);
}

static void write_top(const struct watch_line *line, struct json_writer *w) {
    json_key(w, "top");
    if (!line->top.size) {
        json_write_null(w);
        return;
    }
    json_open_object(w);
    json_write_string_key(w, "name", line->top);
    json_write_int64_key(w, "size_bytes", line->top_bytes);
    json_close_object(w);
}

void watch_line_write_json(const struct watch_line *line, struct output *output) {
    static const char *const kinds[] = {"program", "memory", "device_memory"};
    struct json_writer w = json_writer_on(output);
    char space[MEMORY_SPACE_NAME_BYTES];
    json_open_object(&w);
    write_time(line, &w);
    json_write_text_key(&w, "kind", kinds[line->kind]);
    json_write_string_key(&w, "session", line->session);
    json_write_string_key(&w, "host", line->host);
    json_write_int64_key(&w, "hosts", (int64_t)line->host_count);
    json_write_string_key(&w, "file", line->file);
    json_write_string_key(&w, "name", line->name);
    json_write_text_key(&w, "memory_space", line->kind == WATCH_PROGRAM ? memory_space_name(line->space, space) : NULL);
    json_write_int64_key(&w, "peak_bytes", line->peak_bytes);
    json_write_known_key(&w, "total_allocation_bytes", line->has_total, line->total_bytes);
    json_write_known_key(&w, "capacity_bytes", line->capacity_bytes > 0, line->capacity_bytes);
    write_top(line, &w);
    json_write_bool_key(&w, "over", line->limit_bytes > 0);
    json_close_object(&w);
    output_append_char(output, '\n');
}
