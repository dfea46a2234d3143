// server/http/unsent: whose answer makes room when more wait for their readers than may.
#include "server/http/unsent.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/cmocka_all.h"
#include "tests/unit/tcp_pair.h"

static const size_t KIB = 1024;

static uint8_t answers[5][64 << 10];

// A reader, and the answer that it is sent.
struct reader {
    struct unsent_answer answer;
    struct client_address client;
    int mine, theirs;
};

// Over TCP, for of what it takes the system tells.
static void connect_reader(struct reader *reader) {
    *reader = (struct reader){.mine = -1};
    tcp_pair(&reader->mine, &reader->theirs);
}

static void answer_reader(struct unsent *unsent, struct reader *reader, size_t body, size_t size) {
    unsent_begin(unsent, &reader->answer, reader->theirs, &reader->client, (struct bytes){answers[body], size}, KIB);
}

static void take(struct reader *reader, size_t size) {
    char piece[1 << 10];
    int queued = 1;
    for (size_t taken = 0; taken < size; taken += sizeof piece) {
        assert_int_equal(send(reader->theirs, answers[0], sizeof piece, 0), sizeof piece);
        assert_int_equal(recv(reader->mine, piece, sizeof piece, MSG_WAITALL), sizeof piece);
    }
    while (queued) assert_int_equal(ioctl(reader->theirs, SIOCOUTQ, &queued), 0);  // until it is confirmed
}

static bool has_made_room(const struct reader *reader) {
    char byte;
    return recv(reader->mine, &byte, 1, MSG_DONTWAIT) == 0;
}

static void goes(struct reader *reader) {
    unsent_end(&reader->answer);
    close(reader->mine);
    close(reader->theirs);
}

static void who_took_least_of_the_answer_makes_room(void **state) {
    (void)state;
    struct reader r[5];
    struct unsent *unsent = unsent_new(150 * KIB);
    for (size_t i = 0; i < 5; i++) connect_reader(&r[i]);
    take(&r[1], 20 * KIB);  // of what came before
    answer_reader(unsent, &r[0], 0, 40 * KIB);
    answer_reader(unsent, &r[1], 1, 60 * KIB);
    answer_reader(unsent, &r[2], 2, 40 * KIB);
    take(&r[0], 8 * KIB);
    take(&r[1], 8 * KIB);  // as much, but of more
    take(&r[2], 20 * KIB);
    answer_reader(unsent, &r[3], 3, 40 * KIB);  // nobody is slow yet
    assert_int_equal(unsent_bytes(unsent), 184 * KIB);
    for (size_t i = 0; i < 3; i++) r[i].answer.begun_ms -= 2000;
    unsent_keep_to_budget(unsent);
    assert_true(has_made_room(&r[1]));
    assert_int_equal(unsent_bytes(unsent), 123 * KIB);
    r[2].answer.begun_ms -= 1000000;
    answer_reader(unsent, &r[4], 4, 40 * KIB);  // from now on the third is the slowest
    assert_true(has_made_room(&r[2]));
    assert_false(has_made_room(&r[0]) || has_made_room(&r[3]) || has_made_room(&r[4]));
    for (size_t i = 0; i < 5; i++) goes(&r[i]);
    assert_int_equal(unsent_bytes(unsent), 0);
    unsent_free(unsent);
}

static void connect_by_file(struct reader *reader) {
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    *reader = (struct reader){.mine = pair[0], .theirs = pair[1]};
}

static void a_body_of_several_counts_once(void **state) {
    (void)state;
    struct reader r[4];
    struct unsent *unsent = unsent_new(100 * KIB);
    for (size_t i = 0; i < 4; i++) connect_by_file(&r[i]);
    for (size_t i = 0; i < 3; i++) answer_reader(unsent, &r[i], 0, 60 * KIB);
    assert_int_equal(unsent_bytes(unsent), 63 * KIB);
    unsent_end(&r[0].answer);
    unsent_end(&r[2].answer);
    assert_int_equal(unsent_bytes(unsent), 61 * KIB);
    answer_reader(unsent, &r[3], 1, UNSENT_SMALL_BYTES - KIB - 1);
    assert_int_equal(unsent_bytes(unsent), 61 * KIB);
    unsent_end(&r[1].answer);
    assert_int_equal(unsent_bytes(unsent), 0);
    for (size_t i = 0; i < 4; i++) goes(&r[i]);
    unsent_free(unsent);
}

static void one_that_is_alone_stays_and_of_files_the_oldest_goes(void **state) {
    (void)state;
    struct reader r[3];
    struct unsent *unsent = unsent_new(50 * KIB);
    for (size_t i = 0; i < 3; i++) connect_by_file(&r[i]);
    answer_reader(unsent, &r[0], 0, 60 * KIB);
    r[0].answer.begun_ms -= 5000;
    unsent_keep_to_budget(unsent);
    assert_false(has_made_room(&r[0]));
    answer_reader(unsent, &r[1], 1, 20 * KIB);
    assert_true(has_made_room(&r[0]));
    r[1].answer.begun_ms -= 5000;
    answer_reader(unsent, &r[2], 2, 20 * KIB);
    r[2].answer.begun_ms -= 5000;
    unsent_keep_to_budget(unsent);
    assert_false(has_made_room(&r[1]) || has_made_room(&r[2]));
    for (size_t i = 0; i < 3; i++) goes(&r[i]);
    unsent_free(unsent);
}

static void readers_of_one_body_stay_or_make_room_together(void **state) {
    (void)state;
    struct reader r[4];
    struct unsent *unsent = unsent_new(50 * KIB);
    for (size_t i = 0; i < 4; i++) connect_by_file(&r[i]);
    for (size_t i = 0; i < 2; i++) {
        answer_reader(unsent, &r[i], 0, 60 * KIB);
        r[i].answer.begun_ms -= 5000;
    }
    unsent_keep_to_budget(unsent);
    assert_false(has_made_room(&r[0]) || has_made_room(&r[1]));
    answer_reader(unsent, &r[2], 0, 60 * KIB);
    answer_reader(unsent, &r[3], 1, 20 * KIB);  // one of the body's readers is young
    assert_false(has_made_room(&r[0]) || has_made_room(&r[1]));
    r[2].answer.begun_ms -= 5000;
    unsent_keep_to_budget(unsent);
    for (size_t i = 0; i < 3; i++) assert_true(has_made_room(&r[i]));
    assert_false(has_made_room(&r[3]));
    for (size_t i = 0; i < 4; i++) goes(&r[i]);
    unsent_free(unsent);
}

// The first address has little, and is slow; the other, which has most, has asked for more just now.
static void an_address_within_its_share_makes_no_room(void **state) {
    (void)state;
    struct reader r[4];
    struct unsent *unsent = unsent_new(100 * KIB);
    for (size_t i = 0; i < 4; i++) {
        connect_by_file(&r[i]);
        r[i].client.bytes[0] = i > 0;
        answer_reader(unsent, &r[i], i, i == 0 ? 40 * KIB : 30 * KIB);
        if (i < 2) r[i].answer.begun_ms -= 5000 / (int64_t)(i + 1);
    }
    assert_true(has_made_room(&r[1]));
    assert_int_equal(unsent_bytes(unsent), 103 * KIB);
    assert_false(has_made_room(&r[0]) || has_made_room(&r[2]) || has_made_room(&r[3]));
    r[0].answer.begun_ms -= 5000;
    unsent_keep_to_budget(unsent);  // the others are young
    assert_false(has_made_room(&r[0]) || has_made_room(&r[2]) || has_made_room(&r[3]));
    r[3].answer.begun_ms -= 2000;
    unsent_keep_to_budget(unsent);
    assert_true(has_made_room(&r[3]));
    assert_false(has_made_room(&r[0]) || has_made_room(&r[2]));
    for (size_t i = 0; i < 4; i++) goes(&r[i]);
    unsent_free(unsent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_took_least_of_the_answer_makes_room),
        cmocka_unit_test(a_body_of_several_counts_once),
        cmocka_unit_test(one_that_is_alone_stays_and_of_files_the_oldest_goes),
        cmocka_unit_test(readers_of_one_body_stay_or_make_room_together),
        cmocka_unit_test(an_address_within_its_share_makes_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
