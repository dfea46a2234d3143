#include "server/command/report_across.h"

#include <inttypes.h>

#include "analysis/base/size_text.h"
#include "server/text/known_names.h"
#include "server/text/printable.h"
#include "server/text/utf8.h"

// --- Taking ---

static bool out_of_memory(const struct report_across *a) {
    return report_errors_say(&a->report->errors, ERROR_TOO_BIG, NULL,
                             "There is not enough memory to compare the hosts of this session.");
}

bool report_across_begin(struct report_across *a, struct report *report, size_t room) {
    struct arena *arena = &report->work.arena;
    *a = (struct report_across){.report = report, .room = room};
    a->hosts = arena_new(arena, struct across_host, room + 1);
    a->peaks = arena_new(arena, const struct memory_peaks *, room + 1);
    a->is_whole = arena_new(arena, bool, room + 1);
    if (a->hosts && a->peaks && a->is_whole) return true;
    a->room = 0;
    return out_of_memory(a);
}

// Of the memories that are asked for.
static void keep_asked(const struct report_across *a, struct memory_peaks *peaks) {
    const char *asked = a->report->options.memory_id;
    size_t kept = 0;
    for (size_t i = 0; i < peaks->count; i++) {
        if (!asked || utf8_same_text(peaks->peaks[i].memory_id, asked)) peaks->peaks[kept++] = peaks->peaks[i];
    }
    peaks->count = kept;
}

// Its peaks are NULL when they are not known, and *fault says why.
static void add(struct report_across *a, const char *name, struct memory_peaks *peaks, const struct error *fault) {
    struct across_host *host = &a->hosts[a->count];
    host->name = name;
    if (peaks) keep_asked(a, peaks);
    a->peaks[a->count++] = peaks;
    if (fault->code == ERROR_NONE) return;
    struct error *kept = arena_new(&a->report->work.arena, struct error, 1);
    if (kept) *kept = *fault;
    host->fault = kept;
}

void report_across_take(struct report_across *a, const char *name, const struct memory_profile *profile,
                        const struct error *fault) {
    struct arena *arena = &a->report->work.arena;
    struct memory_peaks *peaks = arena_new(arena, struct memory_peaks, 1);
    struct error error;
    if (a->count == a->room) return;
    if (a->room == 1 && profile->timeline_count < 2) return;  // there is nothing to compare it with
    if (peaks && peaks_of_profile(profile, arena, peaks, &error))
        add(a, name, peaks, fault);
    else
        add(a, name, NULL, peaks ? &error : fault);
}

void report_across_take_device_memory(struct report_across *a, const char *name,
                                      const struct device_memory_profile *profile, const struct error *fault) {
    static const struct error none = {.code = ERROR_NONE};
    struct arena *arena = &a->report->work.arena;
    struct memory_peaks *peaks = profile ? arena_new(arena, struct memory_peaks, 1) : NULL;
    struct error error;
    if (a->count == a->room || a->room == 1) return;
    if (peaks && peaks_of_device_memory(profile, arena, peaks, &error))
        add(a, name, peaks, &none);
    else
        add(a, name, NULL, !profile ? fault : peaks ? &error : &none);
}

// --- Comparing ---

static void tell_whole(struct report_across *a, uint32_t row) {
    uint32_t host = a->across.differences.rows[row].file;
    if (a->is_whole[host] || a->whole_count == ACROSS_HOSTS_WHOLE) return;
    a->is_whole[host] = true;
    a->whole_count++;
}

static void choose_whole(struct report_across *a) {
    const struct peak_differences *d = &a->across.differences;
    if (!a->has_any || a->count <= ACROSS_HOSTS_WHOLE) {
        for (size_t i = 0; i < a->count; i++) a->is_whole[i] = true;
        a->whole_count = a->count;
        return;
    }
    for (uint32_t i = 0; i < d->kind_count; i++) tell_whole(a, d->kinds[i].highest);
    for (uint32_t i = 0; i < d->differing_count; i++) tell_whole(a, d->differing[i]);
}

void report_across_compare(struct report_across *a) {
    struct error error;
    bool is_good = across_make(a->hosts, a->peaks, a->count, &a->report->work.arena, &a->across, &error);
    if (!is_good) report_errors_add(&a->report->errors, &error);
    a->has_any = is_good && across_has_any(&a->across);
    choose_whole(a);
}

bool report_across_is_whole(const struct report_across *a, size_t host) {
    return host >= a->count || a->is_whole[host];
}

// --- Text ---

static const char *size_of(int64_t bytes, const struct page *page) {
    return size_string(bytes, page->arena);
}

// "host-017" of "host-017.memory.prof", so that a table has room for it.
static const char *short_name(const struct across *across, uint32_t row, struct arena *arena) {
    struct bytes name = bytes_of(across_host_name(across, row)), tail = BYTES(".memory.prof");
    if (bytes_ends_with(name, tail) && name.size > tail.size) name.size -= tail.size;
    return arena_string(arena, name);
}

static void write_kinds(const struct report_across *a, struct page *page) {
    static const struct table_column columns[] = {
        {"Memory", TABLE_SHRINKING, false}, {"Lowest", TABLE_RIGHT, false},  {"On", TABLE_SHRINKING, false},
        {"Median", TABLE_RIGHT, false},     {"Highest", TABLE_RIGHT, false}, {"On", TABLE_SHRINKING, false},
        {"Differ", TABLE_RIGHT, false},
    };
    const struct across *across = &a->across;
    struct table table = table_make(columns, sizeof columns / sizeof *columns, page->arena);
    uint32_t alone = 0;
    for (uint32_t i = 0; i < across->differences.kind_count; i++) {
        const struct peak_kind *kind = &across->differences.kinds[i];
        alone += kind->count == 1;
        if (kind->count > 1)
            TABLE_ADD(&table, printable_text(kind->name, page->arena), size_of(kind->lowest_bytes, page),
                      short_name(across, kind->lowest, page->arena),
                      size_of(across->differences.rows[kind->median].peak->bytes, page),
                      size_of(kind->highest_bytes, page), short_name(across, kind->highest, page->arena),
                      arena_printf(page->arena, "%" PRIu32 " of %" PRIu32, kind->differing, kind->count));
    }
    page_table(page, &table);
    if (alone)
        page_paragraph(
            page, arena_printf(page->arena, "%" PRIu32 " more of another kind, alone of it: not compared.", alone));
}

static void write_differing(const struct report_across *a, struct page *page) {
    const struct peak_differences *d = &a->across.differences;
    uint32_t shown = report_at_most(d->differing_count, a->report->options.top);
    const char **items = arena_new(page->arena, const char *, shown + 1);
    for (uint32_t i = 0; items && i < shown; i++)
        items[i] = across_row_text(&a->across, &d->rows[d->differing[i]], page->arena);
    if (d->differing_count == 0) page_paragraph(page, "None differs from its median by more than a hundredth.");
    if (items && shown) page_list(page, items, shown);
    if (shown < d->differing_count)
        page_paragraph(
            page, arena_printf(page->arena, "%" PRIu32 " more differ by less: --top.", d->differing_count - shown));
}

static void write_unread(const struct report_across *a, const char *noun, struct page *page) {
    struct known_names names = {.count = 0};
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (!a->hosts[i].fault) continue;
        known_names_add(&names, bytes_of(a->hosts[i].name), page->arena);
        count++;
    }
    if (count == 0) return;
    page_paragraph(page, arena_printf(page->arena, "%zu %s%s could not be read, or not to the end: %s.", count, noun,
                                      count == 1 ? "" : "s", known_names_text(&names, KNOWN_NAMES_FEW, page->arena)));
}

void report_across_text(const struct report_across *a, const char *session, const char *noun, const char *how,
                        struct page *page) {
    if (!a->has_any) return;
    page_heading(page,
                 arena_printf(page->arena, "Across %zu %s%s: %s", a->count, noun, a->count == 1 ? "" : "s", session));
    write_kinds(a, page);
    write_differing(a, page);
    write_unread(a, noun, page);
    if (!how || a->whole_count == a->count) return;
    page_paragraph(page, arena_printf(page->arena,
                                      "Told here: %zu of %zu %ss, those that hold most and those that differ "
                                      "most. %s",
                                      a->whole_count, a->count, noun, how));
}

// --- JSON ---

void report_across_json(const struct report_across *a, struct json_writer *w) {
    struct error error;
    if (!across_write(&a->across, &a->report->work.arena, w, &error)) report_errors_add(&a->report->errors, &error);
}
