#include "server/http/kept_reply.h"

#include <stdlib.h>

#include "analysis/base/large_block.h"
#include "analysis/base/refused_memory.h"
#include "server/http/gzip.h"
#include "server/http/response.h"

struct kept_body {
    struct output output;
    struct ready_responses ready;  // atomic: the rest never changes
    char etag[ETAG_BYTES];
};

struct writing {
    const struct work *asker;
    const char *key;
    kept_reply_write *write;
    void *context;
    struct load_wish wish;
};

static void destroy_body(void *data) {
    struct kept_body *body = data;
    ready_responses_free(&body->ready);
    output_free(&body->output);
    free(body);
}

static size_t cost_of(void *data) {
    const struct kept_body *body = data;
    return sizeof *body + large_block_size(body->output.capacity) + ready_responses_bytes(&body->ready);
}

static bool keep(struct kept_body *body, struct cache_value *value) {
    output_trim(&body->output);
    *value = (struct cache_value){
        .data = body, .cost_bytes = cost_of(body), .destroy = destroy_body, .cost_now = cost_of};
    return true;
}

static struct kept_body *new_body(struct error *error) {
    struct kept_body *body = memory_or_refusal(calloc(1, sizeof *body));
    if (body)
        output_init(&body->output, OUTPUT_LIMIT_BYTES);
    else
        work_out_of_memory(error);
    return body;
}

static bool load_plain(void *context, struct cache_value *value, struct error *error) {
    const struct writing *writing = context;
    struct kept_body *body = new_body(error);
    if (!body) return false;
    struct work work;
    work_init_for(&work, writing->asker);
    struct json_writer w = json_writer_on(&body->output);
    bool is_good = writing->write(&work, writing->context, &w, error);
    work_free(&work);
    if (is_good && body->output.failed)
        is_good = error_set(error, ERROR_TOO_BIG, "The answer is larger than the limit of 1 GiB.");
    if (!is_good) {
        destroy_body(body);
        return false;
    }
    etag_of(output_bytes(&body->output), body->etag);
    return keep(body, value);
}

static bool load_gzip(void *context, struct cache_value *value, struct error *error) {
    struct writing *writing = context;
    struct kept_body *body = new_body(error);
    if (!body) return false;
    struct cache *cache = writing->asker->cache;
    struct cache_entry *plain_entry = cache_get(cache, writing->key, writing->wish, load_plain, writing,
                                                writing->asker->reading, error);
    bool is_good = plain_entry != NULL;
    if (is_good) {
        const struct kept_body *plain = cache_data(plain_entry);
        etag_for_gzip(plain->etag, body->etag);
        is_good = gzip_compress(output_bytes(&plain->output), &body->output) || work_out_of_memory(error);
        cache_release(cache, plain_entry);
    }
    if (is_good) return keep(body, value);
    destroy_body(body);
    return false;
}

static void fill_reply(struct reply *reply, struct kept_body *body, const char *key, const char *content_type,
                       bool is_gzip) {
    reply->status = HTTP_OK;
    reply->content_type = content_type;
    reply->body = output_bytes(&body->output);
    reply->kept_key = key;
    reply->ready = &body->ready;
    reply->is_gzip = is_gzip;
    memcpy(reply->etag, body->etag, sizeof reply->etag);
}

static bool reply_of(struct request *request, struct writing *writing, const char *content_type, struct reply *reply,
                     struct error *error) {
    bool is_gzip = request_accepts_gzip(request);
    const char *key = is_gzip ? arena_printf(&request->work.arena, "%s gzip", writing->key) : writing->key;
    if (!key) return work_out_of_memory(error);
    struct kept_body *body = work_get(&request->work, key, writing->wish, is_gzip ? load_gzip : load_plain, writing,
                                      error);
    if (!body) return false;
    fill_reply(reply, body, key, content_type, is_gzip);
    return true;
}

bool kept_reply(struct request *request, const char *key, const char *content_type, kept_reply_write *write,
                void *context, struct reply *reply, struct error *error) {
    struct writing writing = {&request->work, key, write, context, {.lane = LOAD_MADE}};
    return reply_of(request, &writing, content_type, reply, error);
}

bool kept_reply_little(struct request *request, const char *key, const char *content_type, kept_reply_write *write,
                       void *context, struct reply *reply, struct error *error) {
    struct writing writing = {&request->work, key, write, context, {.lane = LOAD_FREE}};
    return reply_of(request, &writing, content_type, reply, error);
}

bool kept_reply_again(struct request *request, const char *kept_key, const char *content_type, bool is_gzip,
                      struct reply *reply) {
    struct kept_body *body = work_peek(&request->work, kept_key);
    if (body) fill_reply(reply, body, kept_key, content_type, is_gzip);
    return body;
}
