#include "analysis/across/peak_differences.h"

#include <stdlib.h>

enum { PAGE_BYTES = 4096, SHARE = 100 };

static int64_t minus(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t size_of(int64_t bytes) {
    return bytes < 0 ? (int64_t)(0 - (uint64_t)bytes) : bytes;
}

// --- Kinds ---

static bool is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}

// "TPU_3(process=12)" is "TPU_*(process=*)". No text: no memory.
static struct bytes kind_name(struct bytes memory_id, struct arena *arena) {
    uint8_t *name = arena_push_raw(arena, memory_id.size + 1, 1);
    size_t size = 0;
    for (size_t i = 0; name && i < memory_id.size; i++) {
        bool is_within = i > 0 && is_digit(memory_id.data[i - 1]);
        if (!is_digit(memory_id.data[i]))
            name[size++] = memory_id.data[i];
        else if (!is_within)
            name[size++] = '*';
    }
    return (struct bytes){name, size};
}

struct place {  // of a row, on its way into the order of kinds and peaks
    struct bytes kind;
    int64_t bytes;
    uint32_t row;
};

static int by_kind_peak_row(const void *left, const void *right) {
    const struct place *a = left, *b = right;
    int order = bytes_compare(a->kind, b->kind);
    if (order) return order;
    if (a->bytes != b->bytes) return a->bytes < b->bytes ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

// Of equal peaks the first row stands for all.
static uint32_t row_of(const struct place *places, uint32_t at) {
    while (at > 0 && places[at - 1].bytes == places[at].bytes) at--;
    return places[at].row;
}

static void take_kind(struct peak_differences *d, const struct place *places, uint32_t count) {
    d->kinds[d->kind_count] = (struct peak_kind){.name = places[0].kind,
                                                 .median = row_of(places, (count - 1) / 2),
                                                 .lowest = places[0].row,
                                                 .highest = row_of(places, count - 1),
                                                 .count = count,
                                                 .lowest_bytes = places[0].bytes,
                                                 .highest_bytes = places[count - 1].bytes};
    for (uint32_t i = 0; i < count; i++) d->rows[places[i].row].kind = d->kind_count;
    d->kind_count++;
}

static bool find_kinds(struct peak_differences *d, struct arena *arena) {
    struct place *places = arena_new(arena, struct place, d->row_count + 1);
    d->kinds = arena_new(arena, struct peak_kind, d->row_count + 1);
    if (!places || !d->kinds) return false;
    for (uint32_t i = 0; i < d->row_count; i++) {
        const struct memory_peak *peak = d->rows[i].peak;
        places[i] = (struct place){kind_name(peak->memory_id, arena), peak->bytes, i};
        if (!places[i].kind.data) return false;
    }
    if (d->row_count) qsort(places, d->row_count, sizeof *places, by_kind_peak_row);
    for (uint32_t first = 0, end; first < d->row_count; first = end) {
        for (end = first + 1; end < d->row_count && bytes_equal(places[first].kind, places[end].kind);) end++;
        take_kind(d, &places[first], end - first);
    }
    return true;
}

// --- What one differs by ---

struct search {
    bool wants_more;
    int64_t most_bytes;  // so far, in the direction that is wanted
    struct peak_difference best;
};

static void consider(struct search *search, struct peak_difference found) {
    int64_t more = minus(found.bytes, found.median_bytes);
    int64_t wanted = search->wants_more ? more : minus(0, more);
    if (wanted <= search->most_bytes) return;
    search->most_bytes = wanted;
    search->best = found;
    search->best.is_known = true;
}

// One list or the other may be at its end, or beyond the name.
static struct peak_difference found_at(const struct peak_holder *here, const struct peak_holder *there) {
    bool is_more_here = here->bytes >= there->bytes;
    return (struct peak_difference){.holder = here->name.data ? here->name : there->name,
                                    .bytes = here->bytes,
                                    .median_bytes = there->bytes,
                                    .first_step = is_more_here ? here->first_step : there->first_step};
}

// Both lists are by name.
static struct peak_difference find_difference(const struct memory_peak *here, const struct memory_peak *there) {
    static const struct peak_holder nothing = {.first_step = PEAK_STEP_UNKNOWN};
    struct search search = {.wants_more = here->bytes > there->bytes};
    uint32_t i = 0, k = 0;
    while (i < here->holder_count || k < there->holder_count) {
        const struct peak_holder *a = i < here->holder_count ? &here->holders[i] : &nothing;
        const struct peak_holder *b = k < there->holder_count ? &there->holders[k] : &nothing;
        int order = a == &nothing ? 1 : b == &nothing ? -1 : bytes_compare(a->name, b->name);
        consider(&search, found_at(order <= 0 ? a : &nothing, order >= 0 ? b : &nothing));
        i += order <= 0;
        k += order >= 0;
    }
    consider(&search, (struct peak_difference){.is_unexplained = true,
                                               .bytes = here->unexplained_bytes,
                                               .median_bytes = there->unexplained_bytes,
                                               .first_step = PEAK_STEP_UNKNOWN});
    return search.best;
}

static void compare_row(struct peak_differences *d, struct peak_row *row) {
    struct peak_kind *kind = &d->kinds[row->kind];
    const struct memory_peak *median = d->rows[kind->median].peak;
    row->more_bytes = minus(row->peak->bytes, median->bytes);
    int64_t least = size_of(median->bytes) / SHARE;
    if (least < PAGE_BYTES) least = PAGE_BYTES;
    row->differs = size_of(row->more_bytes) > least;
    if (!row->differs) return;
    kind->differing++;
    row->by = find_difference(row->peak, median);
}

static const struct peak_row *row_at(const struct peak_row *const *place) {
    return *place;
}

static int largest_first(const void *left, const void *right) {
    const struct peak_row *a = row_at(left), *b = row_at(right);
    int64_t x = size_of(a->more_bytes), y = size_of(b->more_bytes);
    if (x != y) return x > y ? -1 : 1;
    return (a > b) - (a < b);
}

static bool order_differing(struct peak_differences *d, struct arena *arena) {
    const struct peak_row **rows = arena_new(arena, const struct peak_row *, d->row_count + 1);
    d->differing = arena_new(arena, uint32_t, d->row_count + 1);
    if (!rows || !d->differing) return false;
    for (uint32_t i = 0; i < d->row_count; i++) {
        if (d->rows[i].differs) rows[d->differing_count++] = &d->rows[i];
    }
    if (d->differing_count) qsort(rows, d->differing_count, sizeof *rows, largest_first);
    for (uint32_t i = 0; i < d->differing_count; i++) d->differing[i] = (uint32_t)(rows[i] - d->rows);
    return true;
}

// --- The whole ---

static bool take_rows(const struct memory_peaks *const files[], size_t file_count, struct arena *arena,
                      struct peak_differences *d) {
    size_t count = 0;
    for (size_t i = 0; i < file_count; i++) count += files[i] ? files[i]->count : 0;
    d->rows = count < UINT32_MAX ? arena_new(arena, struct peak_row, count + 1) : NULL;
    for (size_t i = 0; d->rows && i < file_count; i++) {
        for (size_t k = 0; files[i] && k < files[i]->count; k++)
            d->rows[d->row_count++] = (struct peak_row){.file = (uint32_t)i, .peak = &files[i]->peaks[k]};
    }
    return d->rows != NULL;
}

bool peak_differences_find(const struct memory_peaks *const files[], size_t file_count, struct arena *arena,
                           struct peak_differences *differences, struct error *error) {
    *differences = (struct peak_differences){0};
    bool is_good = take_rows(files, file_count, arena, differences) && find_kinds(differences, arena);
    for (uint32_t i = 0; is_good && i < differences->row_count; i++) compare_row(differences, &differences->rows[i]);
    return (is_good && order_differing(differences, arena)) ||
           error_set(error, ERROR_TOO_BIG, "There is not enough memory to compare the hosts of this session.");
}
