#include "server/storage/web_service.h"

#include <pthread.h>
#include <stdlib.h>

#include "analysis/base/text_scan.h"
#include "server/storage/refusal.h"

#define TOO_BIG                                                                                                        \
    "the server sends no ranges of it, and it is larger than the 128 MiB that are read whole; download it and give "   \
    "its "                                                                                                             \
    "path"

struct web_object {
    const char *name, *query;
    pthread_mutex_t lock;  // of all below
    struct arena arena;    // of the body and the pin
    bool is_whole;
    struct bytes body;
    struct stored_object object;  // what the last answer said
};

struct web_object *web_object_new(const char *name, const char *query) {
    struct web_object *web = calloc(1, sizeof *web);
    if (!web) return NULL;
    web->name = name;
    web->query = query;
    pthread_mutex_init(&web->lock, NULL);
    arena_init(&web->arena, 0);
    return web;
}

void web_object_free(struct web_object *web) {
    if (!web) return;
    arena_free(&web->arena);
    pthread_mutex_destroy(&web->lock);
    free(web);
}

static bool no_memory(const struct object_bucket *bucket, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, bucket->url, ERROR_WHOLE_FILE, "no memory left to ask for it");
}

// --- Versions ---

static bool is_etag(const char *pin) {
    return bytes_starts_with(bytes_of(pin), BYTES("\"")) || bytes_starts_with(bytes_of(pin), BYTES("W/\""));
}

static const char *pin_of(const struct http_answer *answer) {
    return is_etag(answer->etag) ? answer->etag : answer->last_modified;
}

// A weak ETag never matches an If-Match; the answers are compared all the same.
static bool ask_of_version(struct http_question *question, const char *pin) {
    bool is_weak = bytes_starts_with(bytes_of(pin), BYTES("W/"));
    if (!*pin || is_weak) return true;
    return http_question_add(question, is_etag(pin) ? "If-Match" : "If-Unmodified-Since", pin);
}

static bool ask_if_changed(struct http_question *question, const char *pin) {
    return http_question_add(question, is_etag(pin) ? "If-None-Match" : "If-Modified-Since", pin);
}

// "bytes 0-0/123": 123. False: it is not said.
static bool take_total(const char *content_range, uint64_t *total) {
    struct bytes text = bytes_of(content_range);
    int64_t number;
    (void)text_take_until(&text, '/');
    if (!text_take(&text, BYTES("/")) || !text_take_int64(&text, &number) || number < 0 || text.size) return false;
    *total = (uint64_t)number;
    return true;
}

static bool is_version(const struct stored_object *object, const struct http_answer *answer) {
    uint64_t total = object->size_bytes;
    bool is_same_size = !*answer->content_range || !take_total(answer->content_range, &total) ||
                        total == object->size_bytes;
    return is_same_size && (!*pin_of(answer) || strcmp(pin_of(answer), object->pin) == 0);
}

// --- What is there ---

// Takes what an answer says; its body stays on `arena`, which becomes the object's.
static bool take_answer(struct web_object *web, const struct http_answer *answer, struct arena *arena,
                        struct error *error) {
    struct stored_object object = {.pin = pin_of(answer), .modified_s = object_http_date(answer->last_modified)};
    bool is_whole = answer->status == 200, is_sized = is_whole;
    object.size_bytes = answer->body.size;
    if (!is_whole) is_sized = take_total(answer->content_range, &object.size_bytes);
    if (!is_sized)
        return error_in(error, ERROR_MALFORMED, web->name, ERROR_WHOLE_FILE,
                        "the server does not say how large it is (Content-Range \"%.60s\")", answer->content_range);
    arena_free(&web->arena);
    web->arena = *arena;
    *arena = (struct arena){0};
    arena_init(arena, 0);
    web->is_whole = is_whole;
    web->body = is_whole ? answer->body : (struct bytes){0};
    web->object = object;
    return true;
}

static bool ask(const struct object_bucket *bucket, struct web_object *web, struct reading *reading,
                struct arena *arena, struct error *error) {
    struct http_question question = {.method = "GET",
                                     .origin = bucket->origin,
                                     .path = bucket->root_path,
                                     .query = web->query,
                                     .about = arena_printf(arena, "%s/%s", bucket->url, web->name),
                                     .limit_bytes = WEB_WHOLE_BYTES_MAX,
                                     .when_too_big = TOO_BIG,
                                     .reading = reading};
    struct http_answer answer;
    bool is_conditional = web->is_whole;
    if (!question.about || !http_question_add(&question, "Range", "bytes=0-0") ||
        (is_conditional && !ask_if_changed(&question, web->object.pin)))
        return no_memory(bucket, error);
    if (!http_client_ask(bucket->client, &question, 1, arena, &answer, error)) return false;
    if (is_conditional && answer.status == 304) return true;
    bool is_empty = answer.status == 416 && strcmp(answer.content_range, "bytes */0") == 0;
    if (answer.status == 200 || answer.status == 206 || is_empty) return take_answer(web, &answer, arena, error);
    return bucket->service->refused(bucket, &question, &answer, error);
}

static bool look_again(const struct object_bucket *bucket, struct web_object *web, struct reading *reading,
                       struct error *error) {
    struct arena arena;
    if (web->is_whole && !*web->object.pin) return true;  // nothing would tell a change: asking is loading it again
    arena_init(&arena, 0);
    bool is_good = ask(bucket, web, reading, &arena, error);
    arena_free(&arena);
    return is_good;
}

static bool list(const struct object_bucket *bucket, struct reading *reading, struct arena *arena,
                 struct object_page *page, struct error *error) {
    struct web_object *web = bucket->web;
    *page = (struct object_page){0};
    pthread_mutex_lock(&web->lock);
    bool is_good = look_again(bucket, web, reading, error);
    struct stored_object object = web->object;
    if (is_good) {
        object.pin = arena_string(arena, bytes_of(object.pin));
        is_good = (object.pin && object_page_add(page, bytes_of(web->name), &object, arena)) ||
                  no_memory(bucket, error);
    }
    pthread_mutex_unlock(&web->lock);
    return is_good;
}

// --- Reading ---

static bool copy_kept(const struct object_bucket *bucket, const struct stored_object *object,
                      const struct object_range *range) {
    struct web_object *web = bucket->web;
    pthread_mutex_lock(&web->lock);
    bool is_there = web->is_whole && strcmp(web->object.pin, object->pin) == 0 &&
                    web->body.size == object->size_bytes && range->offset <= web->body.size &&
                    range->size <= web->body.size - range->offset;
    if (is_there) memcpy(range->to, web->body.data + range->offset, range->size);
    pthread_mutex_unlock(&web->lock);
    return is_there;
}

static bool ask_range(const struct object_bucket *bucket, const struct stored_object *object, struct arena *arena,
                      struct http_question *question) {
    (void)arena;
    question->path = bucket->root_path;
    question->query = bucket->web->query;
    return ask_of_version(question, object->pin);
}

static bool sign(const struct object_bucket *bucket, struct http_question *question, struct arena *arena,
                 struct error *error) {
    (void)bucket, (void)question, (void)arena, (void)error;
    return true;  // nobody asks
}

static bool refused(const struct object_bucket *bucket, const struct http_question *question,
                    const struct http_answer *answer, struct error *error) {
    (void)bucket;
    if (answer->status == 401 || answer->status == 403)
        return error_in(error, ERROR_UNREADABLE, question->about, ERROR_WHOLE_FILE,
                        "%s refuses it (status %d). No credentials are sent to a web server: give an address that is "
                        "signed, or download it (curl -O) and give its path",
                        question->origin, answer->status);
    return refusal_of(NULL, NULL, question, answer, error);
}

const struct object_service *web_service(void) {
    static const struct object_service service = {.scheme = "https",
                                                  .list = list,
                                                  .copy_kept = copy_kept,
                                                  .ask_range = ask_range,
                                                  .is_version = is_version,
                                                  .sign = sign,
                                                  .refused = refused};
    return &service;
}
