#include "server/document/across_document.h"
#include "server/text/fields.h"

static bool out_of_memory(struct error *error) {
    return error_set(error, ERROR_TOO_BIG, "There is not enough memory to compare the hosts of this session.");
}

bool across_make(const struct across_host *hosts, const struct memory_peaks **peaks, size_t host_count,
                 struct arena *arena, struct across *across, struct error *error) {
    *across = (struct across){hosts, peaks, host_count, {0}};
    return peak_differences_find(peaks, host_count, arena, &across->differences, error);
}

bool across_has_any(const struct across *across) {
    for (uint32_t i = 0; i < across->differences.kind_count; i++) {
        if (across->differences.kinds[i].count > 1) return true;
    }
    return false;
}

const char *across_host_name(const struct across *across, uint32_t row) {
    return across->hosts[across->differences.rows[row].file].name;
}

// --- Hosts ---

static void write_progress(const struct across *across, struct json_writer *w) {
    size_t read = 0;
    for (size_t i = 0; i < across->host_count; i++) read += across->peaks[i] || across->hosts[i].fault;
    json_write_int64_key(w, "hosts", (int64_t)across->host_count);
    json_write_int64_key(w, "read", (int64_t)read);
    json_write_bool_key(w, "complete", read == across->host_count);
    json_open_array_key(w, "unreadable");
    for (size_t i = 0; i < across->host_count; i++) {
        if (!across->hosts[i].fault) continue;
        json_open_object(w);
        json_write_text_key(w, "host", across->hosts[i].name);
        json_write_text_key(w, "message", across->hosts[i].fault->message);
        json_close_object(w);
    }
    json_close_array(w);
}

// --- Kinds ---

struct kind_told {
    struct peak_kind kind;
    const char *median_host;
    struct bytes median_memory_id;
    int64_t median_bytes;
    const char *lowest_host, *highest_host;
    const char *text;
};

static const struct field kind_fields[] = {
    FIELD("kind", struct kind_told, kind.name),
    FIELD("memories", struct kind_told, kind.count),
    FIELD("differing", struct kind_told, kind.differing),
    FIELD("median_host", struct kind_told, median_host),
    FIELD("median_memory_id", struct kind_told, median_memory_id),
    FIELD("median_bytes", struct kind_told, median_bytes),
    FIELD("lowest_bytes", struct kind_told, kind.lowest_bytes),
    FIELD("highest_bytes", struct kind_told, kind.highest_bytes),
    FIELD("lowest_host", struct kind_told, lowest_host),
    FIELD("highest_host", struct kind_told, highest_host),
    FIELD("text", struct kind_told, text),
    FIELD_END,
};

static bool write_kinds(const struct across *across, struct arena *arena, struct json_writer *w) {
    const struct peak_differences *d = &across->differences;
    struct kind_told *told = arena_new(arena, struct kind_told, d->kind_count + 1);
    for (uint32_t i = 0; told && i < d->kind_count; i++) {
        const struct peak_kind *kind = &d->kinds[i];
        const struct memory_peak *median = d->rows[kind->median].peak;
        told[i] = (struct kind_told){*kind,
                                     across_host_name(across, kind->median),
                                     median->memory_id,
                                     median->bytes,
                                     across_host_name(across, kind->lowest),
                                     across_host_name(across, kind->highest),
                                     across_kind_text(across, kind, arena)};
        if (!told[i].text) return false;
    }
    if (told) fields_write_objects_key(w, "kinds", kind_fields, told, d->kind_count, sizeof *told);
    return told != NULL;
}

// --- Memories ---

struct memory_told {
    const char *host;
    struct memory_peak peak;
    uint32_t kind;
    int64_t more_bytes;
    bool differs, has_step;
};

static const struct field memory_fields[] = {
    FIELD("host", struct memory_told, host),
    FIELD("memory_id", struct memory_told, peak.memory_id),
    FIELD("kind", struct memory_told, kind),
    FIELD("is_told", struct memory_told, peak.is_told),
    FIELD("peak_bytes", struct memory_told, peak.bytes),
    FIELD("peak_ps", struct memory_told, peak.time_ps),
    FIELD_IF("step", struct memory_told, peak.step, has_step),
    FIELD("more_bytes", struct memory_told, more_bytes),
    FIELD("differs", struct memory_told, differs),
    FIELD_END,
};

static bool write_memories(const struct across *across, struct arena *arena, struct json_writer *w) {
    const struct peak_differences *d = &across->differences;
    struct memory_told *told = arena_new(arena, struct memory_told, d->row_count + 1);
    struct string_table strings;
    if (!told || !string_table_init(&strings, arena)) return false;
    for (uint32_t i = 0; i < d->row_count; i++) {
        const struct peak_row *row = &d->rows[i];
        told[i] = (struct memory_told){
            across->hosts[row->file].name,       *row->peak, row->kind, row->more_bytes, row->differs,
            row->peak->step != PEAK_STEP_UNKNOWN};
    }
    json_open_object_key(w, "memories");
    fields_write_columns(w, memory_fields, told, d->row_count, sizeof *told, &strings);
    json_close_object(w);
    string_table_write(&strings, w);
    return !string_table_has_failed(&strings);
}

// --- Who differs ---

struct difference_told {
    uint32_t row;
    const char *cause, *text;
    struct peak_difference by;
    bool has_step;
};

static const struct field difference_fields[] = {
    FIELD("row", struct difference_told, row),
    FIELD("cause", struct difference_told, cause),
    FIELD("name", struct difference_told, by.holder),
    FIELD_IF("bytes", struct difference_told, by.bytes, by.is_known),
    FIELD_IF("median_bytes", struct difference_told, by.median_bytes, by.is_known),
    FIELD_IF("first_step", struct difference_told, by.first_step, has_step),
    FIELD("text", struct difference_told, text),
    FIELD_END,
};

static struct difference_told tell(const struct across *across, uint32_t number, struct arena *arena) {
    const struct peak_row *row = &across->differences.rows[number];
    const char *cause = !row->by.is_known ? NULL : row->by.is_unexplained ? "unexplained" : "holder";
    bool has_step = row->by.is_known && row->by.first_step != PEAK_STEP_UNKNOWN;
    return (struct difference_told){number, cause, across_row_text(across, row, arena), row->by, has_step};
}

static bool write_differing(const struct across *across, struct arena *arena, struct json_writer *w) {
    uint32_t count = across->differences.differing_count;
    uint32_t told_count = count < ACROSS_MOST_DIFFERING ? count : ACROSS_MOST_DIFFERING;
    struct difference_told *told = arena_new(arena, struct difference_told, told_count + 1);
    for (uint32_t i = 0; told && i < told_count; i++) {
        told[i] = tell(across, across->differences.differing[i], arena);
        if (!told[i].text) return false;
    }
    if (!told) return false;
    fields_write_objects_key(w, "differing", difference_fields, told, told_count, sizeof *told);
    json_write_int64_key(w, "differing_left_out", (int64_t)(count - told_count));
    return true;
}

bool across_write(const struct across *across, struct arena *arena, struct json_writer *w, struct error *error) {
    write_progress(across, w);
    bool is_good = write_kinds(across, arena, w) && write_memories(across, arena, w) &&
                   write_differing(across, arena, w);
    return is_good || out_of_memory(error);
}
