#include <inttypes.h>

#include "analysis/base/size_text.h"
#include "analysis/base/text_writer.h"
#include "server/document/across_document.h"

// --- A kind ---

static size_t hosts_of(const struct across *across, const struct peak_kind *kind) {
    const struct peak_differences *d = &across->differences;
    uint32_t number = (uint32_t)(kind - d->kinds), before = UINT32_MAX;
    size_t count = 0;
    for (uint32_t i = 0; i < d->row_count; i++) {
        if (d->rows[i].kind != number || d->rows[i].file == before) continue;
        before = d->rows[i].file;
        count++;
    }
    return count;
}

static const char *range_text(const struct peak_kind *kind, struct arena *arena) {
    if (kind->lowest_bytes == kind->highest_bytes) return "all alike";
    return arena_printf(arena, "from %s to %s", size_string(kind->lowest_bytes, arena),
                        size_string(kind->highest_bytes, arena));
}

const char *across_kind_text(const struct across *across, const struct peak_kind *kind, struct arena *arena) {
    const struct memory_peak *median = across->differences.rows[kind->median].peak;
    size_t hosts = hosts_of(across, kind);
    const char *range = range_text(kind, arena);
    const char *memories = hosts == kind->count ? "" : arena_printf(arena, " (%" PRIu32 " memories)", kind->count);
    if (!range || !memories) return NULL;
    return arena_printf(arena, "%.*s on %zu host%s%s: median peak %s, %s.", (int)kind->name.size,
                        (const char *)kind->name.data, hosts, hosts == 1 ? "" : "s", memories,
                        size_string(median->bytes, arena), range);
}

// --- A row ---

static void put_size(struct text_writer *text, int64_t bytes) {
    text_put(text, size_string(bytes, text->arena));
}

static void put_number(struct text_writer *text, const char *words, int64_t number) {
    text_put(text, words);
    text_put_int64(text, number);
}

static void put_held(struct text_writer *text, int64_t bytes) {
    if (bytes)
        put_size(text, bytes);
    else
        text_put(text, "nothing");
}

static void put_cause(struct text_writer *text, const struct peak_difference *by) {
    if (!by->is_known) return;
    text_put(text, ": ");
    if (by->is_unexplained)
        text_put(text, "what was allocated before the profile began is ");
    else
        text_put_bytes(text, by->holder.size ? by->holder : BYTES("an op without a name"));
    text_put(text, by->is_unexplained ? "" : " holds ");
    put_held(text, by->bytes);
    text_put(text, " here, ");
    put_held(text, by->median_bytes);
    text_put(text, " there");
    if (by->first_step != PEAK_STEP_UNKNOWN) put_number(text, ", since step ", by->first_step);
}

const char *across_row_text(const struct across *across, const struct peak_row *row, struct arena *arena) {
    const struct peak_kind *kind = &across->differences.kinds[row->kind];
    const struct peak_row *median = &across->differences.rows[kind->median];
    struct text_writer text = {.arena = arena};
    bool has_more = row->more_bytes > 0;
    text_put(&text, across->hosts[row->file].name);
    text_put(&text, ", ");
    text_put_bytes(&text, row->peak->memory_id);
    text_put(&text, ": ");
    put_size(&text, row->peak->bytes);
    text_put(&text, " at the peak");
    if (row->peak->step != PEAK_STEP_UNKNOWN) put_number(&text, " in step ", row->peak->step);
    text_put(&text, ", ");
    put_size(&text, has_more ? row->more_bytes : (int64_t)(0 - (uint64_t)row->more_bytes));
    text_put(&text, has_more ? " more than " : " less than ");
    text_put(&text, across->hosts[median->file].name);
    if (!bytes_equal(median->peak->memory_id, row->peak->memory_id)) {  // another device, maybe of the same host
        text_put(&text, ", ");
        text_put_bytes(&text, median->peak->memory_id);
        text_put(&text, ",");
    }
    text_put(&text, " at the median (");
    put_size(&text, median->peak->bytes);
    text_put(&text, ")");
    put_cause(&text, &row->by);
    text_put(&text, ".");
    return text_writer_finish(&text);
}
