// Who is given up while it is answered: whoever broke off at once, whoever closed after a while.
#define _GNU_SOURCE  // POLLRDHUP
#include "tests/unit/cmocka_all.h"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "analysis/base/steady_clock.h"
#include "server/http/under_way.h"
#include "tests/unit/tcp_pair.h"

// A client, and the request that it has made.
struct client {
    struct under_way_request request;
    struct reading reading;
    int mine, theirs;
};

// It has sent more than anybody reads meanwhile.
static void asks(struct under_way *under_way, struct client *client) {
    static const char more[] = "GET / HTTP/1.1";
    tcp_pair(&client->mine, &client->theirs);
    assert_int_equal(send(client->mine, more, sizeof more, 0), sizeof more);
    reading_init(&client->reading);
    client->request = (struct under_way_request){.target = "/", .socket = client->theirs, .reading = &client->reading};
    under_way_begin(under_way, &client->request);
}

static void await_end(const struct client *client) {
    struct pollfd asked = {.fd = client->theirs, .events = POLLRDHUP};
    assert_int_equal(poll(&asked, 1, -1), 1);
    assert_true(under_way_has_closed(client->theirs));
}

static void await_given_up(struct client *client) {
    while (!reading_is_abandoned(&client->reading)) sched_yield();
}

static void is_answered(struct under_way *under_way, struct client *client) {
    under_way_end(under_way, &client->request);
    close(client->theirs);
}

// The first one waits for its answer all the while.
static void who_closes_is_given_up_after_a_while(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 1);
    struct under_way *under_way = under_way_new(cache);
    struct client c[3];
    for (size_t i = 0; i < 3; i++) asks(under_way, &c[i]);
    close(c[1].mine);
    shutdown(c[2].mine, SHUT_WR);
    for (size_t i = 1; i < 3; i++) {
        await_end(&c[i]);
        await_given_up(&c[i]);
        assert_true(steady_ms() - c[i].request.begun_ms >= UNDER_WAY_GRACE_MS);
    }
    assert_false(reading_is_abandoned(&c[0].reading));
    for (size_t i = 0; i < 3; i++) is_answered(under_way, &c[i]);
    close(c[0].mine);
    close(c[2].mine);
    under_way_free(under_way);
    cache_free(cache);
}

static void who_breaks_off_is_given_up_at_once(void **state) {
    (void)state;
    static const struct linger none = {.l_onoff = 1};
    struct cache *cache = cache_new(1000, 1);
    struct under_way *under_way = under_way_new(cache);
    struct client client;
    asks(under_way, &client);
    setsockopt(client.mine, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    close(client.mine);
    await_given_up(&client);
    assert_int_equal(client.request.closed_ms, 0);
    is_answered(under_way, &client);
    under_way_free(under_way);
    cache_free(cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_closes_is_given_up_after_a_while),
        cmocka_unit_test(who_breaks_off_is_given_up_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
