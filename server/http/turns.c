#include "server/http/turns.h"

#include <pthread.h>
#include <stdlib.h>

#include "analysis/base/steady_clock.h"
#include "server/steady_wait.h"

enum { RANKS = 16 };  // the last one is of all with 2^15 answers in a row, or more

struct rank {
    struct turn *first, **end;
};

struct turns {
    int64_t turn_ms;
    void (*resume)(void *context);
    pthread_t thread;
    pthread_mutex_t lock;
    // The lock is held for what follows.
    pthread_cond_t changed;  // somebody waits, or it is over
    struct rank ranks[RANKS];
    struct turn *places[TURNS_AT_ONCE];  // NULL: free
    size_t waiting, answered;
    bool is_stopped, is_over;
};

// --- Who waits (the lock is held) ---

static struct rank *rank_of(struct turns *turns, const struct turn *turn) {
    unsigned rank = 0;
    for (unsigned rest = turn->in_a_row; rest > 1 && rank + 1 < RANKS; rest /= 2) rank++;
    return &turns->ranks[rank];
}

static void enter(struct turn *turn, enum turn_state state) {
    turn->state = state;
    turn->since_ms = steady_ms();
}

static void append(struct turns *turns, struct turn *turn) {
    struct rank *rank = rank_of(turns, turn);
    turn->next = NULL;
    *rank->end = turn;
    rank->end = &turn->next;
    turns->waiting++;
    enter(turn, TURN_WAITS);
}

static struct turn *take_first(struct turns *turns) {
    struct rank *rank = turns->ranks;
    while (!rank->first) rank++;
    struct turn *turn = rank->first;
    rank->first = turn->next;
    if (!rank->first) rank->end = &rank->first;
    turns->waiting--;
    return turn;
}

// --- Who is being answered (the lock is held) ---

static void begin(struct turns *turns, struct turn *turn, enum turn_state state) {
    turns->answered++;
    enter(turn, state);
}

static void fill(struct turns *turns, struct turn **place) {
    *place = turns->waiting ? take_first(turns) : NULL;
    if (!*place) return;
    begin(turns, *place, TURN_HAS_PLACE);
    turns->resume((*place)->context);
}

static void fill_places(struct turns *turns) {
    for (struct turn **place = turns->places; place < turns->places + TURNS_AT_ONCE; place++) {
        if (!*place) fill(turns, place);
    }
}

static void leave_place(struct turns *turns, const struct turn *turn) {
    for (struct turn **place = turns->places; place < turns->places + TURNS_AT_ONCE; place++) {
        if (*place == turn) fill(turns, place);
    }
}

static void make_slow_ones_free(struct turns *turns) {
    int64_t before_ms = steady_ms() - turns->turn_ms;
    for (struct turn **place = turns->places; place < turns->places + TURNS_AT_ONCE; place++) {
        if (!*place || (*place)->since_ms > before_ms) continue;
        (*place)->state = TURN_FREE;
        fill(turns, place);
    }
}

static void *run(void *context) {
    struct turns *turns = context;
    pthread_mutex_lock(&turns->lock);
    while (!turns->is_over) {
        if (turns->waiting)
            (void)steady_wait(&turns->changed, &turns->lock, turns->turn_ms);
        else
            pthread_cond_wait(&turns->changed, &turns->lock);
        make_slow_ones_free(turns);
    }
    pthread_mutex_unlock(&turns->lock);
    return NULL;
}

static void resume_all(struct turns *turns) {
    while (turns->waiting) {
        struct turn *turn = take_first(turns);
        begin(turns, turn, TURN_FREE);
        turns->resume(turn->context);
    }
}

// --- Asking ---

static bool has_to_wait(const struct turns *turns, const struct turn *turn) {
    return !turns->is_stopped && turns->answered >= TURNS_FREE && turn->in_a_row;
}

static bool ask(struct turns *turns, struct turn *turn) {
    if (turn->state != TURN_NONE) return true;
    if (turn->in_a_row && steady_ms() - turn->since_ms >= TURN_PAUSE_MS) turn->in_a_row = 0;
    if (has_to_wait(turns, turn)) return false;
    begin(turns, turn, TURN_FREE);
    return true;
}

bool turns_ask(struct turns *turns, struct turn *turn) {
    pthread_mutex_lock(&turns->lock);
    bool is_its_turn = ask(turns, turn);
    pthread_mutex_unlock(&turns->lock);
    return is_its_turn;
}

void turns_wait(struct turns *turns, struct turn *turn) {
    pthread_mutex_lock(&turns->lock);
    append(turns, turn);
    if (turns->is_stopped)
        resume_all(turns);
    else
        fill_places(turns);
    if (turns->waiting == 1) pthread_cond_signal(&turns->changed);
    pthread_mutex_unlock(&turns->lock);
}

void turns_end(struct turns *turns, struct turn *turn) {
    pthread_mutex_lock(&turns->lock);
    if (turn->state == TURN_FREE || turn->state == TURN_HAS_PLACE) {
        turns->answered--;
        turn->in_a_row++;
        if (turn->state == TURN_HAS_PLACE) leave_place(turns, turn);
        enter(turn, TURN_NONE);
    }
    pthread_mutex_unlock(&turns->lock);
}

size_t turns_waiting(struct turns *turns) {
    pthread_mutex_lock(&turns->lock);
    size_t waiting = turns->waiting;
    pthread_mutex_unlock(&turns->lock);
    return waiting;
}

// --- Beginning and end ---

struct turns *turns_new(int64_t turn_ms, void (*resume)(void *context)) {
    struct turns *turns = calloc(1, sizeof *turns);
    if (!turns) return NULL;
    turns->turn_ms = turn_ms;
    turns->resume = resume;
    for (size_t i = 0; i < RANKS; i++) turns->ranks[i].end = &turns->ranks[i].first;
    pthread_mutex_init(&turns->lock, NULL);
    steady_condition_init(&turns->changed);
    if (pthread_create(&turns->thread, NULL, run, turns) == 0) return turns;
    free(turns);
    return NULL;
}

void turns_stop(struct turns *turns) {
    pthread_mutex_lock(&turns->lock);
    turns->is_stopped = true;
    resume_all(turns);
    pthread_mutex_unlock(&turns->lock);
}

void turns_free(struct turns *turns) {
    if (!turns) return;
    pthread_mutex_lock(&turns->lock);
    turns->is_over = true;
    pthread_cond_signal(&turns->changed);
    pthread_mutex_unlock(&turns->lock);
    pthread_join(turns->thread, NULL);
    pthread_cond_destroy(&turns->changed);
    pthread_mutex_destroy(&turns->lock);
    free(turns);
}
