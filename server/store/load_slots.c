#include "server/store/load_slots.h"

#include "analysis/base/memory_room.h"
#include "analysis/base/steady_clock.h"
#include "server/steady_wait.h"

enum { LOOK_AGAIN_MS = 50, SURELY_SLOW_NS = 100000000 };

// A node on the stack of whoever waits.
struct load_waiter {
    struct load_waiter *next;
    const struct load_wish *wish;
    const void *asker;
    bool resumes;         // it had a slot already
    uint64_t came, turn;  // ticks: when it came, and when its asker was let in last
};

void load_slots_init(struct load_slots *slots, unsigned parallel, pthread_mutex_t *lock) {
    steady_condition_init(&slots->changed);
    slots->lock = lock;
    slots->parallel = parallel ? parallel : 1;
}

void load_slots_destroy(struct load_slots *slots) {
    pthread_cond_destroy(&slots->changed);
}

// --- What is under way ---

static struct load_slot *slot_of_this_thread(struct load_slots *slots) {
    for (unsigned i = 0; i < LOAD_SLOTS_MAX; i++) {
        struct load_slot *slot = &slots->slots[i];
        if (slot->depth && pthread_equal(slot->holder, pthread_self())) return slot;
    }
    return NULL;
}

static struct load_slot *free_slot(struct load_slots *slots) {
    for (unsigned i = 0; i < LOAD_SLOTS_MAX; i++) {
        if (slots->slots[i].depth == 0) return &slots->slots[i];
    }
    return NULL;
}

static bool is_slow(const struct load_slot *slot, int64_t now) {
    if (!slot->reading) return false;
    int64_t waited = reading_waited_ns(slot->reading) - slot->waited_ns;
    return waited >= SURELY_SLOW_NS && waited >= (now - slot->begun_ns) / 2;
}

struct lane_counts {
    unsigned quick, slow_here, here;  // of the lane; of the lane and at the place; at the place
};

static struct lane_counts count_beside(const struct load_slots *slots, const struct load_wish *wish) {
    struct lane_counts counts = {0};
    int64_t now = steady_ns();
    for (unsigned i = 0; i < LOAD_SLOTS_MAX; i++) {
        const struct load_slot *slot = &slots->slots[i];
        if (slot->depth == 0) continue;
        bool is_here = slot->wish.place == wish->place, is_of_lane = slot->wish.lane == wish->lane;
        bool slow = is_of_lane && is_slow(slot, now);
        counts.here += is_here;
        counts.quick += is_of_lane && !slow;
        counts.slow_here += is_here && slow;
    }
    return counts;
}

static bool has_room(const struct load_slots *slots, enum load_lane lane, const struct lane_counts *counts) {
    if (memory_room_is_tight()) return counts->quick + counts->slow_here == 0;
    unsigned slow_max = lane == LOAD_LARGE ? LOAD_SLOW_LARGE_MAX : LOAD_SLOW_MAX;
    return counts->quick < slots->parallel && counts->slow_here < slow_max;
}

// --- Whose turn it is ---

static uint64_t later_of(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

// 0: nothing of this asker is under way or waits, so it is before all who had a turn.
static uint64_t last_turn(const struct load_slots *slots, const void *asker) {
    uint64_t turn = 0;
    for (unsigned i = 0; i < LOAD_SLOTS_MAX; i++) {
        const struct load_slot *slot = &slots->slots[i];
        if (slot->depth && slot->asker == asker) turn = later_of(turn, slot->turn);
    }
    for (const struct load_waiter *waiter = slots->first_waiter; waiter; waiter = waiter->next) {
        if (waiter->asker == asker) turn = later_of(turn, waiter->turn);
    }
    return turn;
}

// Its others are behind everybody now.
static uint64_t take_turn(struct load_slots *slots, const void *asker) {
    uint64_t turn = ++slots->ticks;
    for (struct load_waiter *waiter = slots->first_waiter; waiter; waiter = waiter->next) {
        if (waiter->asker == asker) waiter->turn = turn;
    }
    return turn;
}

static bool is_before(const struct load_waiter *a, unsigned here_a, const struct load_waiter *b, unsigned here_b) {
    if (a->turn != b->turn) return a->turn < b->turn;
    if (a->resumes != b->resumes) return a->resumes;
    return here_a != here_b ? here_a < here_b : a->came < b->came;
}

// Whether nobody of the lane who could go as well is before `waiter`.
static bool is_next(const struct load_slots *slots, const struct load_waiter *waiter,
                    const struct lane_counts *counts) {
    for (const struct load_waiter *other = slots->first_waiter; other; other = other->next) {
        if (other == waiter || other->wish->lane != waiter->wish->lane) continue;
        struct lane_counts others = count_beside(slots, other->wish);
        if (!has_room(slots, other->wish->lane, &others)) continue;
        if (is_before(other, others.here, waiter, counts->here)) return false;
    }
    return true;
}

// --- Waiting ---

static struct load_slot *slot_for(struct load_slots *slots, const struct load_waiter *waiter) {
    struct lane_counts counts = count_beside(slots, waiter->wish);
    bool may_go = has_room(slots, waiter->wish->lane, &counts) && is_next(slots, waiter, &counts);
    return may_go ? free_slot(slots) : NULL;
}

static void join(struct load_slots *slots, struct load_waiter *waiter) {
    waiter->came = ++slots->ticks;
    waiter->turn = last_turn(slots, waiter->asker);
    waiter->next = slots->first_waiter;
    slots->first_waiter = waiter;
}

static void quit(struct load_slots *slots, struct load_waiter *waiter) {
    struct load_waiter **link = &slots->first_waiter;
    while (*link != waiter) link = &(*link)->next;
    *link = waiter->next;
    load_slots_wake(slots);
}

// Until something changes, or a load can have turned out to be slow: nobody tells that.
static void wait_a_while(struct load_slots *slots) {
    (void)steady_wait(&slots->changed, slots->lock, LOOK_AGAIN_MS);
}

static struct load_slot *wait_for_slot(struct load_slots *slots, struct load_waiter *waiter,
                                       const struct reading *stoppable) {
    struct load_slot *slot = NULL;
    join(slots, waiter);
    while (!reading_is_stopped(stoppable) && !(slot = slot_for(slots, waiter))) wait_a_while(slots);
    if (slot) slot->depth = 1;  // before anybody else counts
    quit(slots, waiter);
    return slot;
}

// A slot such as `wanted`, which `stoppable` may give up waiting for.
static bool take(struct load_slots *slots, const struct load_slot *wanted, bool resumes,
                 const struct reading *stoppable) {
    struct load_waiter waiter = {.wish = &wanted->wish, .asker = wanted->asker, .resumes = resumes};
    struct load_slot *slot = wait_for_slot(slots, &waiter, stoppable);
    if (!slot) return false;
    *slot = *wanted;
    slot->holder = pthread_self();
    slot->turn = take_turn(slots, wanted->asker);
    slot->begun_ns = steady_ns();
    slot->waited_ns = reading_waited_ns(wanted->reading);
    return true;
}

static void give(struct load_slots *slots, struct load_slot *slot) {
    slot->depth = 0;
    load_slots_wake(slots);
}

// --- For the cache ---

static bool is_same(const struct load_wish *a, const struct load_wish *b) {
    return a->lane == b->lane && a->place == b->place;
}

bool load_slots_enter(struct load_slots *slots, struct load_wish wish, const void *asker, struct reading *reading,
                      struct load_wish *outer) {
    struct load_slot wanted = {.depth = 1, .wish = wish, .asker = asker, .reading = reading};
    *outer = wish;
    if (wish.lane == LOAD_FREE) return true;
    struct load_slot *own = slot_of_this_thread(slots);
    if (!own) return take(slots, &wanted, false, reading);
    *outer = own->wish;
    wanted.depth = ++own->depth;
    if (is_same(&own->wish, &wish)) return true;
    struct load_slot had = *own;
    give(slots, own);
    if (take(slots, &wanted, true, reading)) return true;
    had.depth--;
    load_slots_resume(slots, &had);
    return false;
}

void load_slots_leave(struct load_slots *slots, struct load_wish wish, const struct load_wish *outer) {
    struct load_slot *own = wish.lane == LOAD_FREE ? NULL : slot_of_this_thread(slots);
    if (!own) return;
    struct load_slot had = *own;
    had.depth--;
    if (had.depth && is_same(&had.wish, outer)) {
        own->depth--;
        return;
    }
    give(slots, own);
    had.wish = *outer;
    load_slots_resume(slots, &had);
}

void load_slots_lend(struct load_slots *slots, struct load_slot *lent) {
    struct load_slot *own = slot_of_this_thread(slots);
    *lent = own ? *own : (struct load_slot){0};
    if (own) give(slots, own);
}

void load_slots_resume(struct load_slots *slots, const struct load_slot *lent) {
    if (lent->depth) (void)take(slots, lent, true, NULL);
}

void load_slots_wake(struct load_slots *slots) {
    pthread_cond_broadcast(&slots->changed);
}

struct load_counts load_slots_count(const struct load_slots *slots) {
    struct load_counts counts = {0};
    int64_t now = steady_ns();
    for (unsigned i = 0; i < LOAD_SLOTS_MAX; i++) {
        const struct load_slot *slot = &slots->slots[i];
        counts.running += slot->depth > 0;
        counts.slow += slot->depth > 0 && is_slow(slot, now);
    }
    for (const struct load_waiter *waiter = slots->first_waiter; waiter; waiter = waiter->next) counts.waiting++;
    return counts;
}
