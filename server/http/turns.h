// Whose turn it is to be answered, when many connections ask again as soon as they have their answer.
//
//     turns_ask --no more than TURNS_FREE are being answered, or it had no answer for a while--> answered
//               --else--> turns_wait, by how many answers it had in a row: [ 1 | 2, 3 | 4 to 7 | ... ]
//                                  --one of TURNS_AT_ONCE places is free: the first of the fewest--> answered
//     turns_end, or an answer that its reader has not taken after TURN_MS: the place is the next one's
//
// A loop (http.h) does something for each of its connections in turn, so each that has something to do delays all
// others. With places it is a few of them, whoever comes new is answered when these few are through, and processors
// are left for it; those who go on and on share the rest. Thread-safe.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TURNS_FREE = 32,
    TURNS_AT_ONCE = 8,
    TURN_MS = 10,
    TURN_PAUSE_MS = 1000,  // without an answer, and those before are forgotten
};

enum turn_state { TURN_NONE, TURN_WAITS, TURN_HAS_PLACE, TURN_FREE };

// Of a connection; zeros at first. Read and written by the turns.
struct turn {
    struct turn *next;  // of those who wait as well
    void *context;      // for `resume`
    enum turn_state state;
    unsigned in_a_row;  // answers, without a pause
    int64_t since_ms;   // in this state
};

struct turns;

// `turn_ms` is TURN_MS, or what a test needs; `resume` is called for whoever has waited, with a lock held. NULL: no
// memory, or no thread.
struct turns *turns_new(int64_t turn_ms, void (*resume)(void *context));
void turns_free(struct turns *turns);  // nobody waits or is being answered; NULL is fine

// Whoever asks is being answered from now on. False: it has to wait first.
bool turns_ask(struct turns *turns, struct turn *turn);
void turns_wait(struct turns *turns, struct turn *turn);

// Its answer is out, or nobody is there for it any more. Of one that never asked too.
void turns_end(struct turns *turns, struct turn *turn);

// Nobody waits from now on, and those who do, or were about to, are resumed: the server stops.
void turns_stop(struct turns *turns);

// How many wait (for tests).
size_t turns_waiting(struct turns *turns);
