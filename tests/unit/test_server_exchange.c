// A request whose answer needs no memory, while there is none; and one that was answered, whose body needs none.
#include "tests/unit/cmocka_all.h"

#include "analysis/base/memory_room.h"
#include "server/http/access.h"
#include "server/http/exchange.h"
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(whether_it_lives_is_told_without_any_room),
                                       cmocka_unit_test(a_body_that_was_answered_leaves_room_for_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
