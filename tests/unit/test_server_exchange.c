// A request whose answer needs no memory, while there is none; one that was answered, whose body needs none; and an
// answer without a body.
#include "tests/unit/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory_room.h"
#include "analysis/base/refused_memory.h"
#include "server/http/access.h"
#include "server/http/exchange.h"
#include "server/http/kept_reply.h"
#include "server/http/traffic.h"
#include "server/options.h"
#include "server/routes.h"

static void whether_it_lives_is_told_without_any_room(void **state) {
    (void)state;
    const struct access access = {0};
    const struct app app = {.access = &access, .answer_at_once = routes_answer_at_once};
    memory_room_set(1, NULL, NULL);
    struct exchange *exchange = exchange_begin(&app, "/healthz?x=1", -1);
    assert_non_null(exchange);
    assert_string_equal(exchange->request.target, "/healthz?x=1");
    exchange->request.path = "/healthz";
    exchange->request.method = "GET";
    assert_true(exchange_is_to_be_answered(exchange));
    assert_true(exchange_answer_at_once(exchange));
    assert_int_equal(exchange->reply.status, HTTP_OK);
    assert_true(bytes_equal(exchange->reply.body, BYTES("ok\n")));
    exchange_free(exchange);
    assert_int_equal(memory_room_taken(), 0);
    memory_room_set(0, NULL, NULL);
}

static void answer_well(struct request *request, struct reply *reply) {
    assert_int_equal(request->body.size, 40 << 10);
    reply_short(reply, HTTP_OK, REPLY_TEXT, "good");
}

// The answer may take minutes to be read.
static void a_body_that_was_answered_leaves_room_for_others(void **state) {
    (void)state;
    static const uint8_t bytes[40 << 10];
    struct under_way *under_way = under_way_new(NULL);
    struct bodies *bodies = bodies_new(80 << 10);
    const struct access access = {0};
    const struct app app = {.access = &access, .answer = answer_well, .under_way = under_way};
    struct exchange *exchanges[2];
    for (size_t i = 0; i < 2; i++) {
        struct exchange *exchange = exchanges[i] = exchange_begin(&app, "/api/v1/save", -1);
        exchange->body_limit = sizeof bytes;
        assert_true(exchange_take_body(exchange, bodies, (struct bytes){bytes, sizeof bytes}));
        assert_true(exchange_is_to_be_answered(exchange));
        exchange_goes_under_way(exchange);
        assert_true(exchange_answer(exchange, true));
        assert_int_equal(exchange->reply.status, HTTP_OK);
    }
    for (size_t i = 0; i < 2; i++) exchange_free(exchanges[i]);
    bodies_free(bodies);
    under_way_free(under_way);
}

// --- What a reader who takes nothing holds ---

enum { LARGE_BYTES = 1 << 20, LITTLE_BYTES = 64 << 10 };

static void write_large(struct output *output) {
    memset(output_reserve(output, LARGE_BYTES), 'a', LARGE_BYTES);
    output_advance(output, LARGE_BYTES);
}

static bool make_large(struct request *request, struct reply *reply, struct error *error) {
    struct output *output = reply_output(request, error);
    assert_non_null(output);
    write_large(output);
    return reply_written(reply, REPLY_TEXT, output, error);
}

static void answer_large(struct request *request, struct reply *reply) {
    struct error error;
    uint64_t before = memory_refusals();
    bool is_good = make_large(request, reply, &error);
    reply_settle(request, reply, REPLY_API, is_good, before, &error);
    reply_finish(request, reply);
}

static void answer_badly(struct request *request, struct reply *reply) {
    struct error error;
    uint64_t before = memory_refusals();
    assert_true(make_large(request, reply, &error));
    bool is_good = error_set(&error, ERROR_NOT_FOUND, "There is no such thing.");
    reply_settle(request, reply, REPLY_API, is_good, before, &error);
    reply_finish(request, reply);
}

static bool write_kept(struct work *work, void *context, struct json_writer *w, struct error *error) {
    (void)work;
    (void)context;
    (void)error;
    write_large(w->output);
    return true;
}

static void answer_kept(struct request *request, struct reply *reply) {
    struct error error;
    assert_true(kept_reply(request, "key", REPLY_JSON, write_kept, NULL, reply, &error));
    reply_finish(request, reply);
}

static void reader_without_a_body_holds_little(void (*answer)(struct request *, struct reply *), unsigned status) {
    const struct access access = {0};
    const struct options options = {0};
    struct traffic *traffic = calloc(1, sizeof *traffic);
    struct cache *cache = cache_new(0, 1);  // keeps what is in use
    struct under_way *under_way = under_way_new(cache);
    const struct app app = {.access = &access,
                            .options = &options,
                            .cache = cache,
                            .traffic = traffic,
                            .answer = answer,
                            .under_way = under_way};
    struct exchange *exchange = exchange_begin(&app, "/api/v1/save", -1);
    exchange->request.headers.if_none_match = "*";
    assert_true(exchange_is_to_be_answered(exchange));
    exchange_goes_under_way(exchange);
    assert_true(exchange_answer(exchange, true));
    exchange_goes_out(exchange);
    assert_int_equal(exchange->reply.status, status);
    assert_in_range(memory_room_taken(), 1, LITTLE_BYTES);
    exchange_free(exchange);
    under_way_free(under_way);
    cache_free(cache);
    free(traffic);
    assert_int_equal(memory_room_taken(), 0);
}

static void what_is_not_sent_is_freed(void **state) {
    (void)state;
    reader_without_a_body_holds_little(answer_large, HTTP_NOT_MODIFIED);
    reader_without_a_body_holds_little(answer_badly, HTTP_NOT_FOUND);
    reader_without_a_body_holds_little(answer_kept, HTTP_NOT_MODIFIED);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(whether_it_lives_is_told_without_any_room),
                                       cmocka_unit_test(a_body_that_was_answered_leaves_room_for_others),
                                       cmocka_unit_test(what_is_not_sent_is_freed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
