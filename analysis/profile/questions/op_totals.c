#include "analysis/profile/questions/op_totals.h"

#include <stdlib.h>

#include "analysis/profile/questions/held_bytes.h"
#include "analysis/profile/questions/site_ops.h"

struct site_count {
    uint32_t allocations, frees;
};

// Lifetimes of all freed allocations, those of one op next to each other.
struct lifetimes {
    uint64_t *values;
    size_t *end_of_op;
};

struct maker {
    const struct memory_profile *profile;
    const struct memory_timeline *timeline;
    struct site_ops ops;
    struct site_count *counts;  // of each site
    struct lifetimes lifetimes;
    struct op_totals *totals;
};

static int64_t times(uint64_t count, int64_t bytes) {
    return (int64_t)(count * (uint64_t)bytes);
}

static void add(int64_t *sum, int64_t bytes) {
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)bytes);
}

static void count_events(struct maker *m) {
    const struct memory_timeline *t = m->timeline;
    for (uint32_t i = 0; i < t->count; i++) {
        if (memory_timeline_is_free(t, i)) {
            m->totals->frees++;
            m->totals->frees_of_unseen += t->partner[i] == MEMORY_EVENT_NONE;
            continue;
        }
        m->totals->allocations++;
        m->counts[t->site[i]].allocations++;
        m->counts[t->site[i]].frees += memory_timeline_freed_at(t, i) != MEMORY_EVENT_NONE;
    }
}

static void add_site(struct op_total *op, const struct allocation_site *site, const struct site_count *count) {
    bool is_first = op->allocations == 0;
    op->allocations += count->allocations;
    op->frees += count->frees;
    add(&op->requested_bytes, times(count->allocations, site->requested_bytes));
    add(&op->allocated_bytes, times(count->allocations, site->allocated_bytes));
    add(&op->held_bytes, times(count->allocations - count->frees, allocation_site_held_bytes(site)));
    int64_t bytes = allocation_site_held_bytes(site);
    if (is_first || bytes > op->largest_bytes) op->largest_bytes = bytes;
}

static void add_sites(struct maker *m) {
    for (uint32_t i = 0; i < m->profile->sites.count; i++) {
        if (m->counts[i].allocations) {
            add_site(&m->totals->ops[m->ops.op_of_site[i]], &m->profile->sites.sites[i], &m->counts[i]);
        }
    }
    for (uint32_t i = 0; i < m->ops.count; i++) {
        m->totals->ops[i].op = m->ops.names[i];
        add(&m->totals->requested_bytes, m->totals->ops[i].requested_bytes);
        add(&m->totals->allocated_bytes, m->totals->ops[i].allocated_bytes);
    }
}

static bool collect_lifetimes(struct maker *m, struct arena *arena) {
    struct lifetimes *l = &m->lifetimes;
    size_t freed = 0;
    l->end_of_op = arena_push_raw(arena, m->ops.count, sizeof *l->end_of_op);
    for (uint32_t i = 0; l->end_of_op && i < m->ops.count; i++) {
        l->end_of_op[i] = freed;
        freed += m->totals->ops[i].frees;
    }
    l->values = arena_push_raw(arena, freed, sizeof *l->values);
    if (!l->end_of_op || !l->values) return false;
    const struct memory_timeline *t = m->timeline;
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t freed_at = memory_timeline_is_free(t, i) ? MEMORY_EVENT_NONE : memory_timeline_freed_at(t, i);
        if (freed_at == MEMORY_EVENT_NONE) continue;
        size_t *end = &l->end_of_op[m->ops.op_of_site[t->site[i]]];
        l->values[(*end)++] = (uint64_t)memory_timeline_lifetime_ps(t, i, freed_at);
    }
    return true;
}

// Keeps the values whose byte at `shift` is that of the one in place `rank` when sorted; rank becomes its place there.
static size_t keep_digit(uint64_t *values, size_t count, unsigned shift, size_t *rank) {
    size_t with_digit[256] = {0}, kept = 0;
    for (size_t i = 0; i < count; i++) with_digit[values[i] >> shift & 255]++;
    unsigned digit = 0;
    while (*rank >= with_digit[digit]) *rank -= with_digit[digit++];
    for (size_t i = 0; i < count; i++) {
        if ((values[i] >> shift & 255) == digit) values[kept++] = values[i];
    }
    return kept;
}

// Digit by digit, so that the time is linear whatever the order. Moves the values.
static int64_t median(uint64_t *values, size_t count) {
    if (!count) return -1;
    size_t rank = (count - 1) / 2;
    for (unsigned shift = 64; shift && count > 1; shift -= 8) count = keep_digit(values, count, shift - 8, &rank);
    return (int64_t)values[0];
}

static void find_medians(struct maker *m) {
    size_t begin = 0;
    for (uint32_t i = 0; i < m->ops.count; i++) {
        size_t end = m->lifetimes.end_of_op[i];
        m->totals->ops[i].median_lifetime_ps = median(m->lifetimes.values + begin, end - begin);
        begin = end;
    }
}

static int by_bytes(const void *a, const void *b) {
    const struct op_total *x = a, *y = b;
    if (x->allocated_bytes != y->allocated_bytes) return x->allocated_bytes > y->allocated_bytes ? -1 : 1;
    if (x->requested_bytes != y->requested_bytes) return x->requested_bytes > y->requested_bytes ? -1 : 1;
    return bytes_compare(x->op, y->op);
}

// The sites are of the whole profile: an op may have allocated in other memories only.
static void drop_ops_without_allocations(struct op_totals *totals, uint32_t op_count) {
    for (uint32_t i = 0; i < op_count; i++) {
        if (totals->ops[i].allocations) totals->ops[totals->op_count++] = totals->ops[i];
    }
    if (totals->op_count) qsort(totals->ops, totals->op_count, sizeof *totals->ops, by_bytes);
}

bool op_totals_make(const struct memory_profile *profile, const struct memory_timeline *timeline, struct arena *arena,
                    struct op_totals *totals, struct error *error) {
    *totals = (struct op_totals){0};
    struct maker m = {.profile = profile, .timeline = timeline, .totals = totals};
    if (!site_ops_make(&profile->sites, arena, &m.ops, error)) return false;
    m.counts = arena_new(arena, struct site_count, profile->sites.count);
    totals->ops = arena_new(arena, struct op_total, m.ops.count);
    bool has_room = m.counts && totals->ops;
    if (has_room) {
        count_events(&m);
        add_sites(&m);
        has_room = collect_lifetimes(&m, arena);
    }
    if (!has_room) {
        return error_set(error, ERROR_TOO_BIG, "no memory left for the totals of %u ops in %u events", m.ops.count,
                         timeline->count);
    }
    find_medians(&m);
    drop_ops_without_allocations(totals, m.ops.count);
    return true;
}
