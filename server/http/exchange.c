#include "server/http/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/steady_clock.h"
#include "server/http/access.h"
#include "server/http/request_log.h"
#include "server/http/traffic.h"
#include "server/text/printable.h"

enum {
    BODY_ANNOUNCED_MAX_BYTES = 64 << 20,  // of one that is larger nothing is read
    BODY_SWALLOWED_MAX_BYTES = 1 << 30,   // of one of which it is not known how large it is
    FIRST_BLOCK_BYTES = 1 << 10,  // is enough for an answer at hand, and as much as malloc has ready for its thread
};

struct exchange *exchange_begin(const struct app *app, const char *target, int socket) {
    size_t target_bytes = strlen(target) + 1;
    struct exchange *exchange = calloc(1, sizeof *exchange + target_bytes);
    if (!exchange) return NULL;
    memcpy(exchange->target, target, target_bytes);
    struct request *request = &exchange->request;
    request->app = app;
    work_init(&request->work, app->cache);
    arena_begin_with(&request->work.arena, FIRST_BLOCK_BYTES);
    reading_init(&exchange->reading);
    request->work.reading = &exchange->reading;
    request->target = exchange->target;
    exchange->under_way = (struct under_way_request){.socket = socket, .reading = &exchange->reading};
    exchange->begun_ns = steady_ns();
    return exchange;
}

void exchange_free(struct exchange *exchange) {
    if (!exchange) return;
    unsent_end(&exchange->unsent);
    body_end(&exchange->body);
    work_free(&exchange->request.work);
    free(exchange);
}

static const char BUSY_RETRY_SECONDS[] = "1";

// --- What comes ---

bool exchange_add_argument(struct exchange *exchange, const char *name, size_t name_size, const char *value,
                           size_t value_size) {
    struct request *request = &exchange->request;
    bool is_bad = strlen(name) != name_size || (value && strlen(value) != value_size);
    if (is_bad || request->query_count == REQUEST_QUERY_MAX) {
        exchange->has_bad_name = true;
        return false;
    }
    request->query[request->query_count++] = (struct request_argument){name, value ? value : ""};
    return true;
}

bool exchange_take_body(struct exchange *exchange, struct bodies *bodies, struct bytes piece) {
    if (!exchange->came_bytes) body_begin(bodies, &exchange->body, &exchange->request.client, exchange->body_limit);
    exchange->came_bytes += piece.size;
    body_append(&exchange->body, piece);
    return exchange->came_bytes <= BODY_SWALLOWED_MAX_BYTES;
}

// --- The answer ---

static void refuse(struct exchange *exchange, unsigned status, const char *code, const char *why) {
    struct error error;
    error_set(&error, ERROR_BAD_REQUEST, "%s", why);
    reply_json_error(&exchange->request, &exchange->reply, status, code, &error);
    exchange->is_answered = true;
}

// How much is kept of a body is told by the token, so the token is asked for first: else who guesses would see which is
// right without a guess that counts.
static void refuse_body(struct exchange *exchange, enum body_fate fate) {
    const struct app *app = exchange->request.app;
    exchange->is_answered = !app->let_in(&exchange->request, &exchange->reply);
    if (exchange->is_answered) return;
    const char *why = "The server receives more than it has room for; send it again in a moment.";
    if (fate == BODY_TOO_LARGE)
        why = arena_printf(&exchange->request.work.arena, "The request body is larger than %zu KiB.",
                           exchange->body_limit >> 10);
    if (fate == BODY_MADE_ROOM) why = "The request body came too slowly, and others needed the room; send it again.";
    if (fate == BODY_NO_MEMORY) why = "There is not enough memory for the request body; send it again in a moment.";
    const char *code = fate == BODY_TOO_LARGE ? "too_big" : fate == BODY_NO_MEMORY ? "out_of_memory" : "busy";
    refuse(exchange, fate == BODY_TOO_LARGE ? HTTP_TOO_LARGE : HTTP_UNAVAILABLE, code,
           why ? why : "The request body is too large.");
}

bool exchange_refuses_length(struct exchange *exchange) {
    if (exchange->announced_bytes <= BODY_ANNOUNCED_MAX_BYTES) return false;
    refuse_body(exchange, BODY_TOO_LARGE);
    exchange->reply.is_last = true;
    return true;
}

// It has been read: while the answer goes out its room is for others.
static void drop_body(struct exchange *exchange) {
    exchange->request.body = (struct bytes){0};
    body_end(&exchange->body);
}

void exchange_refuse_busy(struct exchange *exchange) {
    drop_body(exchange);
    refuse(exchange, HTTP_UNAVAILABLE, "busy",
           "The server has more to answer than it has threads for; ask again in a moment.");
    exchange->reply.retry_after = BUSY_RETRY_SECONDS;
    exchange->reply.is_last = true;
}

void exchange_refuse_head(struct exchange *exchange) {
    refuse(
        exchange, HTTP_BAD_REQUEST, NULL,
        "The request has more than one Host or Origin header or length (Content-Length, Transfer-Encoding), a length "
        "that is none, a space before a colon, or a control character: whoever hands it on could read it otherwise.");
    exchange->reply.is_last = true;
}

bool exchange_is_to_be_answered(struct exchange *exchange) {
    enum body_fate fate = body_finish(&exchange->body);
    if (exchange->has_bad_name)
        refuse(exchange, HTTP_BAD_REQUEST, NULL, "The address has too many arguments, too long ones, or a NUL in it.");
    else if (fate != BODY_KEPT)
        refuse_body(exchange, fate);
    return !exchange->is_answered;
}

bool exchange_answer_at_once(struct exchange *exchange) {
    const struct app *app = exchange->request.app;
    exchange->is_answered = app->answer_at_once && app->answer_at_once(&exchange->request, &exchange->reply);
    return exchange->is_answered;
}

void exchange_goes_under_way(struct exchange *exchange) {
    struct request *request = &exchange->request;
    char *target = access_plain_target(request->target, &request->work.arena);
    if (target) access_hide_token(request->app->access, target);
    exchange->under_way.target = target ? target : "";
    request->body = body_bytes(&exchange->body);
    under_way_begin(request->app->under_way, &exchange->under_way);
}

void exchange_leaves(struct exchange *exchange) {
    under_way_end(exchange->request.app->under_way, &exchange->under_way);
}

bool exchange_answer(struct exchange *exchange, bool may_load) {
    const struct app *app = exchange->request.app;
    exchange->request.work.missed = may_load ? NULL : &exchange->missed;
    app->answer(&exchange->request, &exchange->reply);
    if (work_has_missed(&exchange->request.work)) {
        exchange->reply = (struct reply){0};
        return false;
    }
    exchange_leaves(exchange);
    drop_body(exchange);
    exchange->is_answered = true;
    return true;
}

// --- What is told of it ---

static int64_t took_ns(const struct exchange *exchange) {
    return steady_ns() - exchange->begun_ns;
}

static void count_exchange(const struct exchange *exchange) {
    const struct traffic_answer answer = {.family = exchange->reply.family,
                                          .status = exchange->reply.status,
                                          .bytes = exchange->reply_bytes,
                                          .took_us = (uint64_t)took_ns(exchange) / 1000,
                                          .is_stream = exchange->reply.stream.read != NULL};
    traffic_count(exchange->request.app->traffic, &answer);
}

// As it may go to a terminal, whoever sent it.
static const char *printable_or_none(struct exchange *exchange, const char *text) {
    const char *printable = text ? printable_text(bytes_of(text), &exchange->request.work.arena) : "";
    return printable[0] ? printable : "-";
}

static void log_exchange(struct exchange *exchange) {
    const char *target = exchange->request.target;
    const char *plain = target ? access_plain_target(target, &exchange->request.work.arena) : NULL;
    char *line = arena_printf(&exchange->request.work.arena, "%s %s %u %llu bytes %.2f ms",
                              printable_or_none(exchange, exchange->request.method), printable_or_none(exchange, plain),
                              exchange->is_sent ? exchange->reply.status : 0, (unsigned long long)exchange->reply_bytes,
                              (double)took_ns(exchange) / 1e6);
    if (line) access_hide_token(exchange->request.app->access, line);
    request_log_add(exchange->request.app->log, line ? line : "a request, and no memory to say which");
}

void exchange_goes_out(struct exchange *exchange) {
    exchange->is_sent = true;
    reply_is_queued(&exchange->request, &exchange->reply);
    if (!exchange->reply.stream.read) count_exchange(exchange);
}

void exchange_end(struct exchange *exchange) {
    if (exchange->is_sent && exchange->reply.stream.read) count_exchange(exchange);
    if (exchange->request.app->log) log_exchange(exchange);
}
