#include "server/storage/identity_ask.h"

enum { ANSWER_BYTES_MAX = 64 << 10 };

bool identity_address(const char *url, struct arena *arena, struct http_question *question) {
    const char *host = strstr(url, "://"), *path = host ? strchr(host + 3, '/') : NULL;
    if (!path) return false;
    question->origin = arena_string(arena, (struct bytes){(const uint8_t *)url, (size_t)(path - url)});
    question->path = path;
    return question->origin != NULL;
}

bool identity_ask(const struct identity *identity, struct http_question *question, const char *advice,
                  struct arena *arena, struct bytes *body, struct error *error) {
    struct http_answer answer;
    question->limit_bytes = ANSWER_BYTES_MAX;
    question->has_secret = true;
    if (!question->query) question->query = "";
    if (!http_client_ask(identity_client(identity), question, 1, arena, &answer, error)) return false;
    bool is_advised = *advice && (answer.status == 400 || answer.status == 401);
    if (answer.status != 200)
        return error_in(error, ERROR_UNREADABLE, question->about, ERROR_WHOLE_FILE,
                        "%s answers with status %d when asked for credentials%s%s", question->origin, answer.status,
                        is_advised ? ": " : "", is_advised ? advice : "");
    *body = answer.body;
    return true;
}
