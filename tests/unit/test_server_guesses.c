#include "tests/unit/cmocka_all.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include "server/http/guesses.h"

enum { EACH_MS = GUESS_SECONDS * 1000, START_MS = 1000 };

static struct client_address numbered(uint32_t number) {
    struct client_address address = {{0}};
    for (int i = 0; i < 4; i++) address.bytes[i] = (uint8_t)(number >> 8 * i);
    return address;
}

static void guess_all_that_is_free(struct guesses *guesses, const struct client_address *address, int64_t now_ms) {
    for (int i = 0; i < GUESSES_FREE; i++) assert_int_equal(guesses_take(guesses, address, now_ms), 0);
}

static void some_are_slips_and_then_one_comes_due_at_a_time(void **state) {
    (void)state;
    struct guesses *guesses = guesses_new();
    const struct client_address one = numbered(1), other = numbered(2);
    guess_all_that_is_free(guesses, &one, START_MS);
    assert_int_equal(guesses_take(guesses, &one, START_MS), GUESS_SECONDS);
    assert_int_equal(guesses_take(guesses, &one, START_MS + EACH_MS / 2), GUESS_SECONDS / 2);
    assert_int_equal(guesses_take(guesses, &one, START_MS + EACH_MS), 0);
    assert_int_equal(guesses_take(guesses, &one, START_MS + EACH_MS), GUESS_SECONDS);
    guess_all_that_is_free(guesses, &other, START_MS + EACH_MS);
    guess_all_that_is_free(guesses, &one, START_MS + 20 * EACH_MS);
    guesses_free(guesses);
}

static void whoever_has_many_addresses_has_no_more_guesses_than_are_known(void **state) {
    (void)state;
    struct guesses *guesses = guesses_new();
    for (uint32_t i = 0; i < GUESSES_ADDRESSES_MAX; i++) {
        const struct client_address address = numbered(i);
        guess_all_that_is_free(guesses, &address, START_MS);
    }
    const struct client_address another = numbered(GUESSES_ADDRESSES_MAX);
    assert_int_equal(guesses_take(guesses, &another, START_MS), GUESS_SECONDS);
    guesses_free(guesses);
}

static bool is_same(const struct client_address *a, const struct client_address *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

static void an_address_is_the_last_that_a_proxy_names(void **state) {
    (void)state;
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xC0000207)};  // 192.0.2.7
    const struct client_address v4 = client_address_of((const struct sockaddr *)&peer);
    struct client_address told = {{0}}, network = {{0}};
    assert_true(client_address_forwarded("evil, 192.0.2.7:4711", &told));
    assert_true(is_same(&told, &v4));
    assert_true(client_address_forwarded("::ffff:192.0.2.7", &told));
    assert_true(is_same(&told, &v4));
    assert_true(client_address_forwarded("2001:db8::1", &network));
    assert_true(client_address_forwarded("[2001:db8::2]:443", &told));
    assert_true(is_same(&told, &network));  // one network
    assert_false(client_address_forwarded("192.0.2.7, unknown", &told));
    assert_false(client_address_forwarded("", &told));
    assert_false(client_address_forwarded(NULL, &told));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_are_slips_and_then_one_comes_due_at_a_time),
        cmocka_unit_test(whoever_has_many_addresses_has_no_more_guesses_than_are_known),
        cmocka_unit_test(an_address_is_the_last_that_a_proxy_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
