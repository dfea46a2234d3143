// A request whose answer needs no memory, while there is none.
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(whether_it_lives_is_told_without_any_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
