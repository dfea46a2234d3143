#include "server/storage/gcs_service.h"

#include "server/storage/identity.h"
#include "server/storage/refusal.h"
#include "server/storage/url_text.h"

static bool ask_page(const struct object_bucket *bucket, const struct page_wanted *wanted, struct arena *arena,
                     struct http_question *question) {
    const char *next = wanted->next, *escaped = url_escape(bytes_of(wanted->prefix), URL_VALUE, arena);
    const char *token = next ? url_escape(bytes_of(next), URL_VALUE, arena) : "";
    if (!escaped || !token) return false;
    question->path = bucket->root_path;
    question->query = arena_printf(
        arena,
        "%sfields=nextPageToken%%2Cprefixes%%2Citems%%28name%%2Csize%%2Cgeneration%%2Cupdated%%29"
        "&maxResults=%d%s%s&prefix=%s",
        wanted->is_level ? "delimiter=%2F&" : "", OBJECTS_OF_A_PAGE, next ? "&pageToken=" : "", token, escaped);
    return question->query != NULL;
}

static bool ask_range(const struct object_bucket *bucket, const struct stored_object *object, struct arena *arena,
                      struct http_question *question) {
    const char *name = url_escape(bytes_of(object->name), URL_VALUE, arena);
    question->path = name ? arena_printf(arena, "%s/%s", bucket->root_path, name) : NULL;
    question->query = arena_printf(arena, "alt=media&generation=%s", object->pin);
    return question->path && question->query;
}

static bool sign(const struct object_bucket *bucket, struct http_question *question, struct arena *arena,
                 struct error *error) {
    struct identity_keys keys;
    if (!identity_keys(bucket->identity, arena, &keys, error)) return false;
    if (!keys.bearer) return true;
    const char *value = arena_printf(arena, "Bearer %s", keys.bearer);
    question->has_secret = true;
    return (value && http_question_add(question, "Authorization", value)) ||
           error_in(error, ERROR_TOO_BIG, question->about, ERROR_WHOLE_FILE, "no memory left to sign the request");
}

// A generation that is no more is told as an object that is not there.
static bool refused(const struct object_bucket *bucket, const struct http_question *question,
                    const struct http_answer *answer, struct error *error) {
    struct http_answer told = *answer;
    if (answer->status == 404 && strstr(question->query, "generation=")) told.status = 412;
    static const struct refusal_advice advice = {"gcloud auth application-default print-access-token",
                                                 "gcloud auth application-default login"};
    return refusal_of(bucket->identity, &advice, question, &told, error);
}

const struct object_service *gcs_service(void) {
    static const struct object_service service = {.scheme = "gs",
                                                  .ask_page = ask_page,
                                                  .read_page = object_page_of_gcs,
                                                  .ask_range = ask_range,
                                                  .sign = sign,
                                                  .refused = refused};
    return &service;
}
