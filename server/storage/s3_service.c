#include "server/storage/s3_service.h"

#include <time.h>

#include "server/storage/identity.h"
#include "server/storage/refusal.h"
#include "server/storage/sigv4.h"
#include "server/storage/url_text.h"

static bool ask_page(const struct object_bucket *bucket, const struct page_wanted *wanted, struct arena *arena,
                     struct http_question *question) {
    const char *next = wanted->next, *escaped = url_escape(bytes_of(wanted->prefix), URL_VALUE, arena);
    const char *token = next ? url_escape(bytes_of(next), URL_VALUE, arena) : "";
    if (!escaped || !token) return false;
    question->path = *bucket->root_path ? bucket->root_path : "/";
    question->query = arena_printf(arena, "%s%s%s%sencoding-type=url&list-type=2&max-keys=%d&prefix=%s",
                                   next ? "continuation-token=" : "", token, next ? "&" : "",
                                   wanted->is_level ? "delimiter=%2F&" : "", OBJECTS_OF_A_PAGE, escaped);
    return question->query != NULL;
}

static bool ask_range(const struct object_bucket *bucket, const struct stored_object *object, struct arena *arena,
                      struct http_question *question) {
    const char *name = url_escape(bytes_of(object->name), URL_PATH, arena);
    question->path = name ? arena_printf(arena, "%s/%s", bucket->root_path, name) : NULL;
    question->query = "";
    return question->path && http_question_add(question, "If-Match", object->pin);
}

static bool sign(const struct object_bucket *bucket, struct http_question *question, struct arena *arena,
                 struct error *error) {
    struct identity_keys keys;
    if (!identity_keys(bucket->identity, arena, &keys, error)) return false;
    if (!keys.secret) return true;
    struct sigv4_identity identity = {keys.access_key, keys.secret, keys.session_token, bucket->region};
    return sigv4_sign(question, &identity, (int64_t)time(NULL), arena) ||
           error_in(error, ERROR_TOO_BIG, question->about, ERROR_WHOLE_FILE, "no memory left to sign the request");
}

static bool refused(const struct object_bucket *bucket, const struct http_question *question,
                    const struct http_answer *answer, struct error *error) {
    static const struct refusal_advice advice = {"aws sts get-caller-identity", "aws configure"};
    return refusal_of(bucket->identity, &advice, question, answer, error);
}

const struct object_service *s3_service(void) {
    static const struct object_service service = {.scheme = "s3",
                                                  .ask_page = ask_page,
                                                  .read_page = object_page_of_s3,
                                                  .ask_range = ask_range,
                                                  .sign = sign,
                                                  .refused = refused};
    return &service;
}
