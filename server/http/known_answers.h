// Answers that were given a moment ago and are still right: found again without a look at any file, so that the loop
// gives them itself.
//
//     route, query, gzip --> key of the encoded reply (kept_reply.h), mark of the log directory (stillness.h)
//                               `- body: in the cache, or gone from it
//
// It holds no bodies: what the cache drops is not found here either. A place for each answer, by its hash; another one
// of the same hash takes the place. Thread-safe; nothing waits for a file.
#pragma once

#include "server/http/reply.h"
#include "server/store/stillness.h"

enum { KNOWN_ANSWERS_MAX = 512, KNOWN_ANSWER_MAX_BYTES = 2 << 10 };  // query and key of one

struct known_answers;
struct route;

// `stillness` is borrowed. NULL: no memory.
struct known_answers *known_answers_new(struct stillness *stillness);
void known_answers_free(struct known_answers *known);  // NULL is fine

// A good reply that is kept under `reply->kept_key`, for which the files were looked at after `mark`.
void known_answers_note(struct known_answers *known, const struct request *request, const struct route *route,
                        const struct reply *reply, const struct stillness_mark *mark);

// Fills status, type, body and tag. False: it is not known, or may not be right any more.
MUST_USE bool known_answers_find(struct known_answers *known, struct request *request, const struct route *route,
                                 struct reply *reply);
