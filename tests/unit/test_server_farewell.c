// Who was answered before all of their request was there.
#include "tests/unit/cmocka_all.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/http/farewell.h"

enum { PIECE_BYTES = 64 << 10 };
static const char ANSWER[] = "no";

struct line {
    int server, client;
};

static struct line answered_line(void) {
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(send(ends[0], ANSWER, sizeof ANSWER, MSG_NOSIGNAL), sizeof ANSWER);
    return (struct line){ends[0], ends[1]};
}

static void say_farewell(struct farewells *all, struct line line) {
    farewells_take(all, line.server);
    close(line.server);
}

static void wait_for_at_most(struct farewells *all, size_t count) {
    while (farewells_count(all) > count) sched_yield();
}

// How many bytes went, at most `most`, until nobody was there to take them.
static size_t send_on(int client, size_t most) {
    static const char piece[PIECE_BYTES];
    size_t sent = 0;
    while (sent < most) {
        ssize_t went = send(client, piece, sizeof piece, MSG_NOSIGNAL);
        if (went < 0 && errno == EINTR) continue;
        if (went < 0) break;
        sent += (size_t)went;
    }
    return sent;
}

static void who_sends_all_before_reading_gets_the_answer(void **state) {
    (void)state;
    enum { BODY_BYTES = 32 << 20 };
    struct farewells *all = farewells_new();
    struct line line = answered_line();
    say_farewell(all, line);
    assert_int_equal(send_on(line.client, BODY_BYTES), BODY_BYTES);
    char answer[sizeof ANSWER + 1];
    assert_int_equal(recv(line.client, answer, sizeof answer, MSG_WAITALL), sizeof ANSWER);  // and the end of it
    assert_string_equal(answer, ANSWER);
    assert_int_equal(farewells_count(all), 1);
    close(line.client);
    wait_for_at_most(all, 0);
    farewells_free(all);
}

static void who_goes_on_for_ever_is_let_go(void **state) {
    (void)state;
    struct farewells *all = farewells_new();
    struct line line = answered_line();
    say_farewell(all, line);
    size_t sent = send_on(line.client, (size_t)2 * FAREWELL_MOST_BYTES);
    assert_in_range(sent, FAREWELL_MOST_BYTES, FAREWELL_MOST_BYTES + FAREWELL_MOST_BYTES / 8);
    wait_for_at_most(all, 0);
    close(line.client);
    farewells_free(all);
}

static void whoever_has_stayed_longest_makes_room(void **state) {
    (void)state;
    struct farewells *all = farewells_new();
    struct line lines[FAREWELLS_MAX + 1];
    for (size_t i = 0; i < FAREWELLS_MAX; i++) say_farewell(all, lines[i] = answered_line());
    assert_int_equal(send_on(lines[0].client, PIECE_BYTES), PIECE_BYTES);
    say_farewell(all, lines[FAREWELLS_MAX] = answered_line());
    send_on(lines[0].client, SIZE_MAX);  // until it is closed
    wait_for_at_most(all, FAREWELLS_MAX);
    assert_int_equal(send_on(lines[FAREWELLS_MAX].client, PIECE_BYTES), PIECE_BYTES);
    for (size_t i = 0; i <= FAREWELLS_MAX; i++) close(lines[i].client);
    wait_for_at_most(all, 0);
    farewells_free(all);
}

static void the_end_waits_for_nobody(void **state) {
    (void)state;
    struct farewells *all = farewells_new();
    struct line line = answered_line();
    say_farewell(all, line);
    farewells_free(all);
    send_on(line.client, SIZE_MAX);
    close(line.client);
    farewells_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_sends_all_before_reading_gets_the_answer),
        cmocka_unit_test(who_goes_on_for_ever_is_let_go),
        cmocka_unit_test(whoever_has_stayed_longest_makes_room),
        cmocka_unit_test(the_end_waits_for_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
