#include "server/storage/sigv4.h"

#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "analysis/base/text_writer.h"
#include "server/storage/crypto.h"

#define NO_BODY_SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

struct moment {
    char day[9];      // 20130524
    char second[17];  // 20130524T000000Z
};

static struct moment moment_of(int64_t now_s) {
    struct moment moment = {"", ""};
    struct tm parts;
    time_t now = (time_t)now_s;
    if (!gmtime_r(&now, &parts)) return moment;
    (void)strftime(moment.day, sizeof moment.day, "%Y%m%d", &parts);
    (void)strftime(moment.second, sizeof moment.second, "%Y%m%dT%H%M%SZ", &parts);
    return moment;
}

static int compare_headers(const void *a, const void *b) {
    return strcasecmp(((const struct http_header *)a)->name, ((const struct http_header *)b)->name);
}

static void put_lower(struct text_writer *w, const char *name) {
    for (; *name; name++) {
        uint8_t c = (uint8_t)(*name >= 'A' && *name <= 'Z' ? *name + 'a' - 'A' : *name);
        text_put_bytes(w, (struct bytes){&c, 1});
    }
}

static const char *names_of(const struct http_question *question, struct arena *arena) {
    struct text_writer w = {.arena = arena};
    for (size_t i = 0; i < question->header_count; i++) {
        if (i) text_put(&w, ";");
        put_lower(&w, question->headers[i].name);
    }
    return text_writer_finish(&w);
}

static struct bytes canonical(const struct http_question *question, const char *names, struct arena *arena) {
    struct text_writer w = {.arena = arena};
    const char *const first[] = {question->method, question->path, question->query};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        text_put(&w, first[i]);
        text_put(&w, "\n");
    }
    for (size_t i = 0; i < question->header_count; i++) {
        put_lower(&w, question->headers[i].name);
        text_put(&w, ":");
        text_put(&w, question->headers[i].value);
        text_put(&w, "\n");
    }
    text_put(&w, "\n");
    text_put(&w, names);
    text_put(&w, "\n" NO_BODY_SHA256);
    return text_writer_bytes(&w);
}

static struct bytes bytes_of_hash(const struct crypto_hash *hash) {
    return (struct bytes){hash->data, sizeof hash->data};
}

static struct crypto_hash signing_key(const struct sigv4_identity *identity, const struct moment *moment,
                                      const char *first) {
    struct crypto_hash key = crypto_hmac_sha256(bytes_of(first), bytes_of(moment->day));
    const char *const rest[] = {identity->region, "s3", "aws4_request"};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
        key = crypto_hmac_sha256(bytes_of_hash(&key), bytes_of(rest[i]));
    }
    return key;
}

// "day/region/s3/aws4_request": what the key is good for.
static const char *authorization(const struct http_question *question, const struct sigv4_identity *identity,
                                 const struct moment *moment, struct arena *arena) {
    const char *names = names_of(question, arena);
    const char *scope = arena_printf(arena, "%s/%s/s3/aws4_request", moment->day, identity->region);
    const char *first = arena_printf(arena, "AWS4%s", identity->secret);
    struct bytes request = names ? canonical(question, names, arena) : (struct bytes){0};
    if (!scope || !first || !request.data) return NULL;
    struct crypto_hash hash = crypto_sha256(request);
    const char *hex = crypto_hex(&hash, arena);
    const char *text = hex ? arena_printf(arena, "AWS4-HMAC-SHA256\n%s\n%s\n%s", moment->second, scope, hex) : NULL;
    if (!text) return NULL;
    struct crypto_hash key = signing_key(identity, moment, first);
    struct crypto_hash signature = crypto_hmac_sha256(bytes_of_hash(&key), bytes_of(text));
    const char *signed_hex = crypto_hex(&signature, arena);
    if (!signed_hex) return NULL;
    return arena_printf(arena, "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s",
                        identity->access_key, scope, names, signed_hex);
}

static const char *host_of(const char *origin) {
    const char *after = strstr(origin, "://");
    return after ? after + 3 : origin;
}

bool sigv4_sign(struct http_question *question, const struct sigv4_identity *identity, int64_t now_s,
                struct arena *arena) {
    struct moment moment = moment_of(now_s);
    const char *second = arena_string(arena, bytes_of(moment.second));
    bool has_room = second && http_question_add(question, "Host", host_of(question->origin)) &&
                    http_question_add(question, "X-Amz-Content-Sha256", NO_BODY_SHA256) &&
                    http_question_add(question, "X-Amz-Date", second);
    if (has_room && identity->session_token)
        has_room = http_question_add(question, "X-Amz-Security-Token", identity->session_token);
    if (!has_room) return false;
    qsort(question->headers, question->header_count, sizeof *question->headers, compare_headers);
    const char *value = authorization(question, identity, &moment, arena);
    question->has_secret = true;
    return value && http_question_add(question, "Authorization", value);
}
