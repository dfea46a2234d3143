#include "server/storage/refusal.h"

// "nobody" where it is not known.
static const char *who_asks(struct identity *identity, struct arena *arena) {
    struct identity_keys keys;
    struct error ignored;
    return identity_keys(identity, arena, &keys, &ignored) ? keys.who : "nobody";
}

static bool is_forbidden(struct identity *identity, const char *command, const struct http_question *question,
                         const struct http_answer *answer, struct error *error) {
    struct arena arena;
    arena_init(&arena, 0);
    (void)error_in(error, ERROR_UNREADABLE, question->about, ERROR_WHOLE_FILE,
                   "%s refuses it (status %d) to %.200s. What may that see? %s", question->origin, answer->status,
                   who_asks(identity, &arena), command);
    arena_free(&arena);
    return false;
}

bool refusal_of(struct identity *identity, const char *command, const struct http_question *question,
                const struct http_answer *answer, struct error *error) {
    const char *about = question->about, *origin = question->origin;
    switch (answer->status) {
        case 401:
        case 403:
            return is_forbidden(identity, command, question, answer, error);
        case 404:
            return error_in(error, ERROR_NOT_FOUND, about, ERROR_WHOLE_FILE, "%s has no such bucket or object", origin);
        case 412:
            return error_in(error, ERROR_UNREADABLE, about, ERROR_WHOLE_FILE,
                            "the object was replaced or removed while it was read; try again");
        case 301:
        case 302:
        case 307:
        case 308:
            return error_in(error, ERROR_UNREADABLE, about, ERROR_WHOLE_FILE,
                            "%s sends the request elsewhere%s%s; credentials are not sent there. Set the endpoint and "
                            "the region of the bucket",
                            origin, *answer->region ? ", to region " : "", answer->region);
        default:
            return error_in(error, ERROR_UNREADABLE, about, ERROR_WHOLE_FILE, "%s answers with status %d", origin,
                            answer->status);
    }
}
