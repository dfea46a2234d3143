#include "analysis/profile/questions/profile_findings.h"

#include "analysis/base/clamped.h"
#include "analysis/profile/questions/largest_free.h"
#include "analysis/profile/questions/site_ops.h"
#include "analysis/profile/questions/timeline_window.h"

enum { NO_SHARE = -1, MARGIN_PARTS = 20 };

static struct profile_finding *add(const struct profile_evidence *e, struct profile_findings *findings,
                                   enum finding_kind kind, uint32_t row) {
    struct profile_finding *finding = &findings->items[findings->count++];
    *finding = (struct profile_finding){.kind = kind,
                                        .row = row,
                                        .time_ps = e->timeline->time_ps[row],
                                        .step = e->timeline->step[row],
                                        .share = NO_SHARE};
    return finding;
}

static double share_of(int64_t part, int64_t whole) {
    return whole > 0 ? (double)part / (double)whole : NO_SHARE;
}

// --- Room ---

static const struct pressure_moment *first_stall(const struct memory_pressure *p) {
    for (uint32_t i = 0; i < p->moment_count; i++) {
        if (p->moments[i].kind == PRESSURE_STALL) return &p->moments[i];
    }
    return NULL;
}

static void find_failures(const struct profile_evidence *e, struct profile_findings *findings) {
    const struct pressure_moment *stall = first_stall(e->pressure);
    if (!stall) return;
    struct profile_finding *failed = add(e, findings, FINDING_FAILED, stall->row);
    int64_t margin = clamped_subtract(stall->until_ps, stall->time_ps) / MARGIN_PARTS;
    failed->step = stall->step;
    failed->from_ps = clamped_subtract(stall->time_ps, margin);
    failed->to_ps = clamped_add(stall->until_ps, margin);
    failed->bytes = e->pressure->stall_least_bytes;
    failed->count = e->pressure->stall_count;
    failed->is_sure = e->pressure->stall_retry_count == e->pressure->stall_count;
}

// Enough is free for the largest request, but not in one piece. Of such events, that of the smallest piece.
static uint32_t worst_in_pieces(const struct profile_evidence *e) {
    const struct memory_timeline *t = e->timeline;
    int64_t request = e->pressure->largest_request_bytes, least = INT64_MAX;
    uint32_t worst = MEMORY_EVENT_NONE;
    for (uint32_t i = 0; i < t->count; i++) {
        if (!(t->flags[i] & MEMORY_EVENT_HAS_STATE) || t->free_bytes[i] < request) continue;
        int64_t largest = largest_free_bytes(t->free_bytes[i], t->fragmentation[i]);
        if (largest == LARGEST_FREE_UNKNOWN || largest >= request || largest >= least) continue;
        least = largest;
        worst = i;
    }
    return worst;
}

static void find_want_of_room(const struct profile_evidence *e, struct profile_findings *findings) {
    const struct memory_pressure *p = e->pressure;
    if (p->state != PRESSURE_TIGHT && p->state != PRESSURE_FAILED) return;
    uint32_t row = worst_in_pieces(e);
    if (row != MEMORY_EVENT_NONE) {
        struct profile_finding *pieces = add(e, findings, FINDING_PIECES, row);
        pieces->bytes = p->largest_request_bytes;
        pieces->share = e->timeline->fragmentation[row];
    } else if (p->state == PRESSURE_TIGHT) {
        struct profile_finding *tight = add(e, findings, FINDING_TIGHT, p->tightest);
        tight->bytes = p->largest_request_bytes;
        tight->count = p->tight_events;
    }
}

// --- Growth ---

static int64_t clamped_bytes(double bytes) {
    if (bytes >= 0x1p62) return INT64_MAX;
    return bytes > 0 ? (int64_t)bytes : 0;
}

// The last event that belongs to the steps: what leaked by then is what the finding tells.
static uint32_t last_row_of_steps(const struct profile_evidence *e) {
    const struct step_list *steps = &e->growth->steps;
    uint32_t end = steps->count ? steps->steps[steps->count - 1].end_row : e->timeline->count;
    return end ? end - 1 : 0;
}

static void find_leak(const struct profile_evidence *e, struct profile_findings *findings) {
    const struct growth_op *worst = step_growth_worst(e->growth);
    if (!worst) return;
    struct profile_finding *leak = add(e, findings, FINDING_LEAK, last_row_of_steps(e));
    leak->op = worst->op;
    leak->bytes = clamped_bytes(worst->slope_bytes);
    leak->count = e->growth->leak_count;
    timeline_whole(e->timeline, &leak->from_ps, &leak->to_ps);
}

// --- The peak ---

static void find_peak(const struct profile_evidence *e, struct profile_findings *findings) {
    const struct memory_timeline *t = e->timeline;
    uint32_t row = e->summary->peak_row;
    if (row == MEMORY_EVENT_NONE || !e->summary->tells.usage) return;
    struct profile_finding *peak = add(e, findings, FINDING_PEAK, row);
    peak->bytes = memory_timeline_used_bytes(t, row);
    if (e->summary->tells.free) peak->share = share_of(peak->bytes, clamped_add(peak->bytes, t->free_bytes[row]));
}

// What one op holds at the peak.
struct op_share {
    int64_t bytes;
    uint32_t count, first_row;
};

static void sum_ops(const struct memory_breakdown *b, const struct site_ops *ops, struct op_share *shares) {
    for (uint32_t i = 0; i < b->row_count; i++) {
        const struct memory_breakdown_row *row = &b->rows[i];
        struct op_share *share = &shares[ops->op_of_site[row->site]];
        if (!share->count || row->first_row < share->first_row) share->first_row = row->first_row;
        share->bytes = clamped_add(share->bytes, row->total_bytes);
        share->count += row->occurrences;
    }
}

static bool find_holder(const struct profile_evidence *e, struct arena *arena, struct profile_findings *findings,
                        struct error *error) {
    struct site_ops ops;
    if (!site_ops_make(&e->profile->sites, arena, &ops, error)) return false;
    struct op_share *shares = arena_new(arena, struct op_share, ops.count + 1);
    if (!shares) return error_set(error, ERROR_TOO_BIG, "no memory left to sum up %u ops", ops.count);
    uint32_t most = 0;
    sum_ops(e->breakdown, &ops, shares);
    for (uint32_t i = 1; i < ops.count; i++) {
        if (shares[i].bytes > shares[most].bytes) most = i;
    }
    double share = share_of(shares[most].bytes, e->breakdown->heap_bytes);
    if (share * 100 < FINDING_HOLDER_PERCENT || !ops.names[most].size) return true;
    struct profile_finding *holder = add(e, findings, FINDING_HOLDER, e->breakdown->row);
    holder->op = ops.names[most];
    holder->bytes = shares[most].bytes;
    holder->count = shares[most].count;
    holder->share = share;
    return true;
}

static void find_unseen(const struct profile_evidence *e, struct profile_findings *findings) {
    const struct memory_breakdown *b = e->breakdown;
    double share = share_of(b->unexplained_bytes, b->heap_bytes);
    if (!b->heap_is_told || share * 100 < FINDING_UNSEEN_PERCENT) return;
    struct profile_finding *unseen = add(e, findings, FINDING_UNSEEN, b->row);
    unseen->bytes = b->unexplained_bytes;
    unseen->share = share;
    unseen->is_sure = e->summary->held_at_begin_bytes >= b->unexplained_bytes;
}

static void find_fragmented_peak(const struct profile_evidence *e, struct profile_findings *findings) {
    enum pressure_state state = e->pressure->state;
    uint32_t row = e->summary->peak_row;
    if (row == MEMORY_EVENT_NONE || (state != PRESSURE_TIGHT && state != PRESSURE_FAILED)) return;
    double share = e->timeline->fragmentation[row];
    if (!(share * 100 >= FINDING_FRAGMENTED_PERCENT)) return;
    struct profile_finding *fragmented = add(e, findings, FINDING_PEAK_FRAGMENTED, row);
    fragmented->share = share;
    fragmented->bytes = largest_free_bytes(e->timeline->free_bytes[row], share);
}

static void find_rounding(const struct profile_evidence *e, struct profile_findings *findings) {
    double share = share_of(e->summary->allocated_bytes, e->summary->requested_bytes);
    int64_t rest = clamped_subtract(e->summary->allocated_bytes, e->summary->requested_bytes);
    double of_peak = share_of(rest, e->breakdown->heap_bytes);
    if (share * 100 < FINDING_ROUNDED_PERCENT || of_peak * 100 < FINDING_ROUNDED_OF_PEAK_PERCENT) return;
    struct profile_finding *rounded = add(e, findings, FINDING_ROUNDED, e->breakdown->row);
    rounded->bytes = e->summary->allocated_bytes;
    rounded->share = share;
}

bool profile_findings_make(const struct profile_evidence *evidence, struct arena *arena,
                           struct profile_findings *findings, struct error *error) {
    findings->count = 0;
    find_failures(evidence, findings);
    find_want_of_room(evidence, findings);
    find_leak(evidence, findings);
    find_peak(evidence, findings);
    if (!find_holder(evidence, arena, findings, error)) return false;
    find_unseen(evidence, findings);
    find_fragmented_peak(evidence, findings);
    find_rounding(evidence, findings);
    return true;
}
