// Who makes room when more answers wait for their readers than may (unsent.h).
//
//     answers --> by body: those who are sent one body stay or make room together, for without one of them it would
//                 lie there all the same
//             --> in order: of those a second old, whoever took the smallest share of its answer in a second comes
//                 first, by the fastest reader of a body; of equal ones the oldest
//
// An address that has no more than its share of the budget (as much as each of those there are) makes no room, so
// nobody's downloads are cut by what others ask for; nor does the last body there is. Pure; nothing is locked.
#pragma once

#include "server/http/unsent_answer.h"

struct unsent_readers {
    struct unsent_answer **of_body;  // among the answers
    size_t count;
    double share;      // of whoever takes it fastest
    int64_t begun_ms;  // the first of them
    bool is_young;     // one of them is
    bool is_modest;    // one of them is of an address with no more than its share
};

// Orders the answers anew; `readers` has room for as many. Fills in those who may make room, first who shall first, and
// gives their number.
size_t unsent_who_makes_room(struct unsent_answer **answers, size_t count, size_t max_bytes, int64_t now_ms,
                             struct unsent_readers *readers);
