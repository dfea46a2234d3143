// What a check of the advice against the compiler told last, for the page to show.
//
//     hbmview advise --check --page=URL --POST--> check_board_put --.
//                                          the newest of each program, CHECK_BOARD_MAX programs
//     page <--GET-- check_board_read <------------------------------'
//
// The check runs elsewhere, under its own user: the server starts no process (server/sandbox) and only keeps a text of
// it, in memory and of no more than CHECK_TEXT_MAX_BYTES. One more program takes the place of the one of which there is
// no news for longest. What a text says is its writer's concern (server/document/check_progress.h). Thread-safe.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/text/output.h"

enum { CHECK_BOARD_MAX = 32, CHECK_TEXT_MAX_BYTES = 64 << 10, CHECK_NAME_MAX_BYTES = 4 << 10 };

struct check_board;

struct check_board *check_board_new(void);         // NULL: no memory
void check_board_free(struct check_board *board);  // NULL is fine

// The program a check is of; both names are borrowed.
struct checked_program {
    const char *session, *module;
};

// Keeps a copy, instead of what was told of that program before. `now_ms` is of a clock that only goes on. False: the
// text or a name is too long, or there is no memory; then what was told before stays.
bool check_board_put(struct check_board *board, const struct checked_program *program, struct bytes text,
                     int64_t now_ms);

// Appends what was told last, and says how long ago that was. False: nothing was.
bool check_board_read(struct check_board *board, const struct checked_program *program, int64_t now_ms,
                      struct output *text, int64_t *age_ms);
