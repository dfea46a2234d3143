#include "server/storage/refusal.h"

#include "analysis/base/text_scan.h"

enum { WORD_BYTES_MAX = 40 };

// "nobody" where it is not known.
static struct identity_keys who_asks(struct identity *identity, struct arena *arena) {
    struct identity_keys keys;
    struct error ignored;
    return identity_keys(identity, arena, &keys, &ignored) ? keys : (struct identity_keys){.who = "nobody"};
}

// A word of the server's that may stand in a message; no more than that of what it sends does.
static bool is_word(struct bytes text) {
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && (c < '0' || c > '9') && c != '-') return false;
    }
    return text.size > 0 && text.size <= WORD_BYTES_MAX;
}

// "ExpiredToken", of S3's <Error><Code>ExpiredToken</Code>; empty: it says none.
static struct bytes code_of(const struct http_answer *answer) {
    struct bytes body = answer->body;
    size_t at = bytes_find(body, BYTES("<Code>"));
    if (at == body.size) return BYTES("");
    at += strlen("<Code>");
    body = (struct bytes){body.data + at, body.size - at};
    struct bytes code = text_take_until(&body, '<');
    return is_word(code) ? code : BYTES("");
}

// S3 says with 400 of some keys that they are no good.
static bool is_of_keys(struct bytes code) {
    static const char *const codes[] = {"ExpiredToken", "InvalidToken", "TokenRefreshRequired"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (bytes_equal(code, bytes_of(codes[i]))) return true;
    }
    return false;
}

static bool is_forbidden(struct identity *identity, const struct refusal_advice *advice,
                         const struct http_question *question, const struct http_answer *answer, struct error *error) {
    struct bytes code = code_of(answer);
    struct arena arena;
    arena_init(&arena, 0);
    struct identity_keys keys = who_asks(identity, &arena);
    bool is_somebody = keys.secret || keys.bearer;
    const char *lead = is_somebody ? "What may that see?" : "Log in:";
    const char *command = is_somebody ? advice->who_am_i : advice->log_in;
    (void)error_in(error, ERROR_UNREADABLE, question->about, ERROR_WHOLE_FILE,
                   "%s refuses it (status %d%s%.*s) to %.200s. %s %s", question->origin, answer->status,
                   code.size ? ", " : "", (int)code.size, (const char *)code.data, keys.who, lead, command);
    arena_free(&arena);
    identity_doubt(identity);
    return false;
}

static bool is_elsewhere(const struct http_question *question, const struct http_answer *answer, struct error *error) {
    const char *region = is_word(bytes_of(answer->region)) ? answer->region : NULL;
    if (region)
        return error_in(error, ERROR_UNREADABLE, question->about, ERROR_WHOLE_FILE,
                        "%s says that it is in another region, and credentials are not sent there. Ask in that one: "
                        "AWS_REGION=%s",
                        question->origin, region);
    return error_in(error, ERROR_UNREADABLE, question->about, ERROR_WHOLE_FILE,
                    "%s sends the request elsewhere; credentials are not sent there. Set the endpoint and the region "
                    "of the bucket",
                    question->origin);
}

static bool is_unknown(const struct http_question *question, const struct http_answer *answer, struct error *error) {
    struct bytes code = code_of(answer);
    return error_in(error, ERROR_UNREADABLE, question->about, ERROR_WHOLE_FILE, "%s answers with status %d%s%.*s",
                    question->origin, answer->status, code.size ? ", " : "", (int)code.size, (const char *)code.data);
}

bool refusal_of(struct identity *identity, const struct refusal_advice *advice, const struct http_question *question,
                const struct http_answer *answer, struct error *error) {
    const char *about = question->about, *origin = question->origin;
    switch (answer->status) {
        case 401:
        case 403:
            return is_forbidden(identity, advice, question, answer, error);
        case 404:
            return error_in(error, ERROR_NOT_FOUND, about, ERROR_WHOLE_FILE, "%s has no such bucket or object", origin);
        case 412:
            return error_in(error, ERROR_UNREADABLE, about, ERROR_WHOLE_FILE,
                            "the object was replaced or removed while it was read; try again");
        case 301:
        case 302:
        case 307:
        case 308:
            return is_elsewhere(question, answer, error);
        case 400:
            if (identity && is_of_keys(code_of(answer))) return is_forbidden(identity, advice, question, answer, error);
            if (bytes_equal(code_of(answer), BYTES("AuthorizationHeaderMalformed")) && *answer->region)
                return is_elsewhere(question, answer, error);
            return is_unknown(question, answer, error);
        default:
            return is_unknown(question, answer, error);
    }
}
