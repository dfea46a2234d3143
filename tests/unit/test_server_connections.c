// Who is let in, who makes room and who is dropped; whose body is kept.
#include "tests/unit/cmocka_all.h"

#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/http/bodies.h"
#include "server/http/door.h"
#include "server/http/listener.h"
#include "server/http/lobby.h"
#include "tests/unit/other_threads.h"

// --- The lobby ---

struct client {
    struct guest guest;
    int mine, theirs;
};

static void nothing(void *context) {
    (void)context;
}

static bool connects(struct lobby *lobby, struct client *client, uint32_t address) {
    int pair[2];
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_addr = {htonl(address)}};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    client->mine = pair[0];
    client->theirs = pair[1];
    return lobby_enter(lobby, &client->guest, client->theirs, (const struct sockaddr *)&peer);
}

static bool is_over(const struct client *client) {
    char byte;
    return recv(client->mine, &byte, 1, MSG_DONTWAIT) == 0;
}

static void wait_until_over(const struct client *client) {
    char byte;
    assert_int_equal(recv(client->mine, &byte, 1, 0), 0);
}

static void leaves(struct lobby *lobby, struct client *client) {
    lobby_leave(lobby, &client->guest);
    close(client->mine);
    close(client->theirs);
}

static void leave_all(struct lobby *lobby, struct client *clients, size_t count) {
    for (size_t i = 0; i < count; i++) leaves(lobby, &clients[i]);
    assert_int_equal(lobby_count(lobby).guests, 0);
    lobby_free(lobby);
}

static void longest_waiting_makes_room(void **state) {
    (void)state;
    struct lobby *lobby = lobby_new(3, 3, nothing, NULL);
    struct client c[5];
    for (uint32_t i = 0; i < 3; i++) assert_true(connects(lobby, &c[i], i));
    assert_true(lobby_serves(lobby, &c[0].guest));
    lobby_now(lobby, &c[1].guest, GUEST_WAITS, 0);
    assert_true(connects(lobby, &c[3], 3));  // the third waits longest now
    assert_true(is_over(&c[2]));
    assert_false(is_over(&c[0]) || is_over(&c[1]) || is_over(&c[3]));
    lobby_now(lobby, &c[1].guest, GUEST_UPLOADS, 0);
    lobby_now(lobby, &c[3].guest, GUEST_DOWNLOADS, 1);
    assert_true(connects(lobby, &c[4], 4));
    assert_true(is_over(&c[1]));
    assert_int_equal(lobby_count(lobby).dropped_for_room, 2);
    leave_all(lobby, c, 5);
}

// Nor do they keep others out: one more would be, and is not served.
static void nobody_is_dropped_while_served(void **state) {
    (void)state;
    struct lobby *lobby = lobby_new(3, 3, nothing, NULL);
    struct client c[4];
    for (uint32_t i = 0; i < 3; i++) assert_true(connects(lobby, &c[i], i));
    for (uint32_t i = 0; i < 2; i++) assert_true(lobby_serves(lobby, &c[i].guest));
    assert_false(lobby_serves(lobby, &c[2].guest));
    assert_true(connects(lobby, &c[3], 3));
    assert_true(is_over(&c[2]));
    assert_false(is_over(&c[0]) || is_over(&c[1]));
    lobby_now(lobby, &c[0].guest, GUEST_DOWNLOADS, 1);
    assert_true(lobby_serves(lobby, &c[3].guest));
    leave_all(lobby, c, 4);
}

// They are not served for ever: others are, and they make room before an answer is cut.
static void listeners_make_room_before_downloads(void **state) {
    (void)state;
    struct lobby *lobby = lobby_new(3, 3, nothing, NULL);
    struct client c[4];
    for (uint32_t i = 0; i < 3; i++) assert_true(connects(lobby, &c[i], i));
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(lobby_serves(lobby, &c[i].guest));
        lobby_now(lobby, &c[i].guest, i == 0 ? GUEST_DOWNLOADS : GUEST_LISTENS, 1);
    }
    assert_true(lobby_serves(lobby, &c[2].guest));
    assert_true(connects(lobby, &c[3], 3));
    assert_true(is_over(&c[1]));
    assert_false(is_over(&c[0]) || is_over(&c[2]));
    assert_true(lobby_serves(lobby, &c[3].guest));
    leave_all(lobby, c, 4);
}

static void an_address_leaves_service_to_others(void **state) {
    (void)state;
    enum { ONE = 0x0A000001, OTHER = 0x0A000002, LATE = 0x0A000003 };
    static const struct {
        uint32_t address;
        bool is_served;
    } cases[] = {{ONE, true},   {ONE, true},   {ONE, true},    {ONE, true}, {ONE, false},
                 {OTHER, true}, {OTHER, true}, {OTHER, false}, {LATE, true}};
    enum { COUNT = sizeof cases / sizeof cases[0] };
    struct lobby *lobby = lobby_new(9, 9, nothing, NULL);
    struct client c[COUNT];
    for (size_t i = 0; i < COUNT; i++) assert_true(connects(lobby, &c[i], cases[i].address));
    for (size_t i = 0; i < COUNT; i++) assert_int_equal(lobby_serves(lobby, &c[i].guest), cases[i].is_served);
    leave_all(lobby, c, COUNT);
}

static void an_address_has_its_share(void **state) {
    (void)state;
    enum { ONE = 0x0A000001, OTHER = 0x0A000002 };
    struct lobby *lobby = lobby_new(4, 2, nothing, NULL);
    struct client c[4];
    assert_true(connects(lobby, &c[0], OTHER));
    for (uint32_t i = 1; i < 4; i++) assert_true(connects(lobby, &c[i], ONE));
    assert_true(is_over(&c[1]));  // its own, though the other one's waits longer
    assert_false(is_over(&c[0]) || is_over(&c[2]) || is_over(&c[3]));
    leave_all(lobby, c, 4);
}

enum { FEW = 0x0A000001, MANY_HERE = 0x0A000002, SOME = 0x0A000003 };

static size_t count_over(const struct client *clients, size_t count) {
    size_t over = 0;
    for (size_t i = 0; i < count; i++) over += is_over(&clients[i]);
    return over;
}

// However long the few wait, and however busy the many seem.
static void the_address_with_most_guests_makes_room(void **state) {
    (void)state;
    struct lobby *lobby = lobby_new(6, 6, nothing, NULL);
    struct client c[9];
    assert_true(connects(lobby, &c[0], FEW));
    for (uint32_t i = 1; i < 5; i++) assert_true(connects(lobby, &c[i], MANY_HERE));
    assert_true(connects(lobby, &c[5], SOME));
    for (uint32_t i = 1; i < 5; i++) lobby_now(lobby, &c[i].guest, i == 1 ? GUEST_DOWNLOADS : GUEST_UPLOADS, 0);
    assert_true(connects(lobby, &c[6], SOME));
    assert_true(is_over(&c[2]));  // its longest of those who upload
    assert_true(connects(lobby, &c[7], FEW));
    assert_true(is_over(&c[3]));
    assert_int_equal(count_over(c, 8), 2);
    assert_true(connects(lobby, &c[8], FEW));  // each has two now, so it has none to take from but itself
    assert_true(is_over(&c[0]));
    assert_int_equal(count_over(c, 9), 3);
    leave_all(lobby, c, 9);
}

// Those who hold most come again and again: each time it is their own who make room.
static void who_has_most_makes_room_for_itself(void **state) {
    (void)state;
    struct lobby *lobby = lobby_new(4, 4, nothing, NULL);
    struct client c[13];
    assert_true(connects(lobby, &c[0], FEW));
    for (uint32_t i = 1; i < 12; i++) assert_true(connects(lobby, &c[i], MANY_HERE));
    assert_int_equal(count_over(&c[1], 11), 8);
    assert_false(is_over(&c[0]));
    assert_true(lobby_serves(lobby, &c[9].guest));
    assert_true(connects(lobby, &c[12], FEW));
    assert_true(is_over(&c[10]));  // not the one who is served
    assert_false(is_over(&c[0]) || is_over(&c[9]) || is_over(&c[11]));
    leave_all(lobby, c, 13);
}

// One who has all of its own served has none to give, and takes no other's.
static void who_has_most_takes_nobodys_place(void **state) {
    (void)state;
    struct lobby *lobby = lobby_new(5, 5, nothing, NULL);
    struct client c[6];
    for (uint32_t i = 0; i < 3; i++) assert_true(connects(lobby, &c[i], i));
    for (uint32_t i = 3; i < 5; i++) {
        assert_true(connects(lobby, &c[i], MANY_HERE));
        assert_true(lobby_serves(lobby, &c[i].guest));
    }
    assert_false(connects(lobby, &c[5], MANY_HERE));
    assert_int_equal(count_over(c, 5), 0);
    close(c[5].mine);
    close(c[5].theirs);
    leave_all(lobby, c, 5);
}

// Of each kind one that is in time and one that is late.
static void who_is_late_is_dropped(void **state) {
    (void)state;
    static const struct {
        enum guest_state state;
        uint64_t bytes;
        int64_t age_s;
        bool is_late;
    } cases[] = {
        {GUEST_WAITS, 0, LOBBY_HEAD_SECONDS, true},
        {GUEST_WAITS, 0, LOBBY_HEAD_SECONDS - 10, false},
        {GUEST_UPLOADS, 1, LOBBY_BODY_SECONDS - 10, false},
        {GUEST_UPLOADS, 1, LOBBY_BODY_SECONDS, true},
        {GUEST_UPLOADS, (uint64_t)100 * LOBBY_BODY_BYTES_PER_SECOND, 60, false},
        {GUEST_UPLOADS, (uint64_t)100 * LOBBY_BODY_BYTES_PER_SECOND, 110, true},
        {GUEST_DOWNLOADS, 100, LOBBY_ANSWER_SECONDS - 10, false},
        {GUEST_DOWNLOADS, 100, LOBBY_ANSWER_SECONDS + 1, true},
        {GUEST_DOWNLOADS, (uint64_t)100 * LOBBY_ANSWER_BYTES_PER_SECOND, LOBBY_ANSWER_SECONDS + 60, false},
        {GUEST_DOWNLOADS, (uint64_t)100 * LOBBY_ANSWER_BYTES_PER_SECOND, LOBBY_ANSWER_SECONDS + 110, true},
        {GUEST_LISTENS, 0, 100000, false},
        {GUEST_IS_SERVED, 0, 100000, false},
    };
    enum { COUNT = sizeof cases / sizeof cases[0] };
    struct lobby *lobby = lobby_new(COUNT, COUNT, nothing, NULL);
    struct client c[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(connects(lobby, &c[i], i));
        if (cases[i].state == GUEST_IS_SERVED)
            assert_true(lobby_serves(lobby, &c[i].guest));
        else
            lobby_now(lobby, &c[i].guest, cases[i].state, cases[i].bytes);
        lobby_backdate(lobby, &c[i].guest, 1000 * cases[i].age_s);
    }
    for (size_t i = 0; i < COUNT; i++) {
        if (cases[i].is_late) wait_until_over(&c[i]);
    }
    for (size_t i = 0; i < COUNT; i++) assert_int_equal(is_over(&c[i]), cases[i].is_late);
    leave_all(lobby, c, COUNT);
}

// --- Bodies ---

static void fill(struct body *body, size_t size) {
    static const uint8_t piece[1024];
    for (size_t i = 0; i < size / sizeof piece; i++) body_append(body, (struct bytes){piece, sizeof piece});
}

static const struct client_address one_address = {{1}}, other_address = {{2}}, third_address = {{3}};

static enum body_fate sent(struct bodies *bodies, struct body *body, const struct client_address *client, size_t size) {
    body_begin(bodies, body, client, 2 << 20);
    fill(body, size);
    return body_finish(body);
}

// They are whole, and wait to be answered.
static void bodies_of_an_address_leave_room_for_others(void **state) {
    (void)state;
    const size_t KIB = 1024;
    struct bodies *bodies = bodies_new(1600 * KIB);
    struct body b[7];
    assert_int_equal(sent(bodies, &b[0], &one_address, 500 * KIB), BODY_KEPT);
    assert_int_equal(sent(bodies, &b[1], &one_address, 300 * KIB), BODY_KEPT);
    assert_int_equal(sent(bodies, &b[2], &one_address, KIB), BODY_NO_ROOM);
    assert_int_equal(sent(bodies, &b[3], &other_address, 400 * KIB), BODY_KEPT);
    assert_int_equal(sent(bodies, &b[4], &third_address, 200 * KIB), BODY_KEPT);
    body_end(&b[0]);
    assert_int_equal(sent(bodies, &b[5], &one_address, KIB), BODY_KEPT);
    body_end(&b[1]);
    body_end(&b[5]);
    assert_int_equal(sent(bodies, &b[6], &one_address, 500 * KIB), BODY_KEPT);
    for (size_t i = 0; i < 7; i++) body_end(&b[i]);
    bodies_free(bodies);
}

// Four addresses have all but the last sixteenth.
static void the_last_room_is_for_small_bodies(void **state) {
    (void)state;
    const size_t KIB = 1024;
    struct bodies *bodies = bodies_new(3200 * KIB);
    struct body b[7];
    for (uint8_t i = 0; i < 4; i++)
        assert_int_equal(sent(bodies, &b[i], &(struct client_address){{i}}, (1600 * KIB) >> i), BODY_KEPT);
    assert_int_equal(sent(bodies, &b[4], &(struct client_address){{4}}, BODIES_SMALL_BYTES + KIB), BODY_NO_ROOM);
    assert_int_equal(sent(bodies, &b[5], &(struct client_address){{5}}, BODIES_SMALL_BYTES), BODY_KEPT);
    assert_int_equal(sent(bodies, &b[6], &(struct client_address){{6}}, 25 * KIB), BODY_KEPT);
    for (size_t i = 0; i < 7; i++) body_end(&b[i]);
    bodies_free(bodies);
}

// The first address has little, and is slow; the other one wants as much as there is.
static void a_slow_body_makes_no_room_for_who_has_more(void **state) {
    (void)state;
    const size_t KIB = 1024;
    struct bodies *bodies = bodies_new(1600 * KIB);
    struct body b[3];
    for (size_t i = 0; i < 3; i++) body_begin(bodies, &b[i], i == 0 ? &one_address : &other_address, 1 << 20);
    fill(&b[0], 100 * KIB);
    fill(&b[1], 700 * KIB);
    for (size_t i = 0; i < 2; i++) b[i].begun_ms -= 5000 * (int64_t)(20 - i);
    fill(&b[2], 200 * KIB);
    assert_int_equal(body_finish(&b[1]), BODY_MADE_ROOM);
    assert_int_equal(body_finish(&b[0]), BODY_KEPT);
    assert_int_equal(body_finish(&b[2]), BODY_KEPT);
    for (size_t i = 0; i < 3; i++) body_end(&b[i]);
    bodies_free(bodies);
}

static void slowest_body_makes_room(void **state) {
    (void)state;
    const size_t KIB = 1024;
    struct bodies *bodies = bodies_new(200 * KIB);  // half of it for one address
    struct body b[5];
    for (size_t i = 0; i < 5; i++) body_begin(bodies, &b[i], &one_address, 60 * KIB);
    fill(&b[0], 40 * KIB);
    fill(&b[1], 30 * KIB);
    fill(&b[2], 30 * KIB);
    fill(&b[3], KIB);  // all the others are too young to be slow
    assert_int_equal(body_finish(&b[3]), BODY_NO_ROOM);
    b[0].begun_ms -= 100000;
    b[1].begun_ms -= 100000;
    b[2].begun_ms -= 5000;
    fill(&b[4], 30 * KIB);  // the second is slower than the first
    assert_int_equal(body_finish(&b[1]), BODY_MADE_ROOM);
    assert_int_equal(body_bytes(&b[1]).size, 0);
    assert_int_equal(body_finish(&b[0]), BODY_KEPT);  // from now on it keeps its place
    fill(&b[4], 20 * KIB);
    assert_int_equal(body_finish(&b[2]), BODY_MADE_ROOM);
    assert_int_equal(body_finish(&b[4]), BODY_KEPT);
    assert_int_equal(body_bytes(&b[0]).size, 40 * KIB);
    assert_int_equal(body_bytes(&b[4]).size, 50 * KIB);
    for (size_t i = 0; i < 5; i++) body_end(&b[i]);
    bodies_free(bodies);
}

static void body_has_a_limit(void **state) {
    (void)state;
    struct bodies *bodies = bodies_new(1 << 20);
    struct body body;
    body_begin(bodies, &body, &one_address, 2048);
    fill(&body, 2048);
    body_append(&body, BYTES("x"));
    assert_int_equal(body_finish(&body), BODY_TOO_LARGE);
    body_end(&body);
    bodies_free(bodies);
}

enum { MANY = 100 };

// --- The door ---

struct hall {
    sem_t came;
    int sockets[MANY];
    size_t count;
    bool is_full;  // refuses, and closes
    bool is_rude;  // closes, and says nothing
};

static bool let_in(void *of, int socket, const struct sockaddr *peer, socklen_t peer_size) {
    struct hall *hall = of;
    assert_int_equal(peer->sa_family, AF_INET);
    assert_int_equal(peer_size, sizeof(struct sockaddr_in));
    if (hall->is_full || hall->is_rude)
        close(socket);
    else
        hall->sockets[hall->count++] = socket;
    sem_post(&hall->came);
    return !hall->is_full;
}

static int connect_to(int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(socket_fd, (struct sockaddr *)&to, sizeof to), 0);
    return socket_fd;
}

static struct door *open_door(struct hall *hall, size_t most, int *port) {
    struct listener listener;
    char problem[LISTENER_PROBLEM_BYTES];
    *hall = (struct hall){0};
    sem_init(&hall->came, 0, 0);
    assert_true(listener_open(NULL, false, 0, &listener, problem));
    *port = listener.port;
    struct door *door = door_new(most, let_in, hall);
    assert_true(door && door_open(door, listener.socket));
    return door;
}

static void go(int *clients, size_t count, struct hall *hall) {
    for (size_t i = 0; i < count; i++) close(clients[i]);
    for (size_t i = 0; i < hall->count; i++) close(hall->sockets[i]);
    sem_destroy(&hall->came);
}

// No client has said a word, and nobody serves those who are in.
static void all_are_let_in_at_once(void **state) {
    (void)state;
    struct hall hall;
    int port, clients[MANY];
    struct door *door = open_door(&hall, MANY, &port);
    for (size_t i = 0; i < MANY; i++) clients[i] = connect_to(port);
    for (size_t i = 0; i < MANY; i++) sem_wait(&hall.came);
    door_close(door);
    door_free(door);
    go(clients, MANY, &hall);
}

static void who_finds_no_room_waits_until_somebody_left(void **state) {
    (void)state;
    struct hall hall;
    int port, clients[3];
    struct door *door = open_door(&hall, 2, &port);
    for (size_t i = 0; i < 3; i++) clients[i] = connect_to(port);
    for (size_t i = 0; i < 2; i++) sem_wait(&hall.came);
    other_threads_wait_all();
    assert_int_not_equal(sem_trywait(&hall.came), 0);
    door_left(door, clients[0]);  // who was never in
    other_threads_wait_all();
    assert_int_not_equal(sem_trywait(&hall.came), 0);
    door_left(door, hall.sockets[0]);
    sem_wait(&hall.came);
    door_close(door);
    door_free(door);
    go(clients, 3, &hall);
}

static void come_one_by_one(struct hall *hall, struct door *door, int port) {
    for (size_t i = 0; i < MANY; i++) {
        int client = connect_to(port);
        sem_wait(&hall->came);
        close(client);
    }
    door_close(door);
    door_free(door);
    go(NULL, 0, hall);
}

static void who_is_refused_takes_no_room(void **state) {
    (void)state;
    struct hall hall;
    int port;
    struct door *door = open_door(&hall, 1, &port);
    hall.is_full = true;
    come_one_by_one(&hall, door, port);
}

// The two ends of each have the numbers of those before, one or the other: the system takes the number of the next one
// already while it waits for it.
static void who_left_without_a_word_takes_no_room(void **state) {
    (void)state;
    struct hall hall;
    int port;
    struct door *door = open_door(&hall, 3, &port);
    hall.is_rude = true;
    come_one_by_one(&hall, door, port);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longest_waiting_makes_room),
        cmocka_unit_test(nobody_is_dropped_while_served),
        cmocka_unit_test(listeners_make_room_before_downloads),
        cmocka_unit_test(an_address_leaves_service_to_others),
        cmocka_unit_test(an_address_has_its_share),
        cmocka_unit_test(the_address_with_most_guests_makes_room),
        cmocka_unit_test(who_has_most_makes_room_for_itself),
        cmocka_unit_test(who_has_most_takes_nobodys_place),
        cmocka_unit_test(who_is_late_is_dropped),
        cmocka_unit_test(slowest_body_makes_room),
        cmocka_unit_test(bodies_of_an_address_leave_room_for_others),
        cmocka_unit_test(the_last_room_is_for_small_bodies),
        cmocka_unit_test(a_slow_body_makes_no_room_for_who_has_more),
        cmocka_unit_test(body_has_a_limit),
        cmocka_unit_test(all_are_let_in_at_once),
        cmocka_unit_test(who_finds_no_room_waits_until_somebody_left),
        cmocka_unit_test(who_is_refused_takes_no_room),
        cmocka_unit_test(who_left_without_a_word_takes_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
