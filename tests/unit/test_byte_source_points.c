// analysis/input/byte_source_points: what one reader of a .gz learns, the next one knows.
#include "analysis/input/byte_source_points.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/parallel.h"
#include "analysis/input/byte_source.h"
#include "analysis/input/local_storage.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/gzip_bytes.h"
#include "tests/unit/temp_folder.h"

enum { CONTENT_BYTES = 24 << 20, HEAD_BYTES = 3, NEAR_BYTES = 3 << 20, POINTS_MAX_BYTES = 2700000 };

struct fixture {
    struct temp_folder folder;
    struct temp_path path;
    struct byte_source_points *points;
    struct reading reading;  // counts what is read of the file
    struct storage storage;
    struct byte_source *source;
    struct error error;
};

// Bytes that hardly compress, but in which no place looks like another.
static uint8_t byte_at(uint64_t offset) {
    uint64_t mixed = (offset + 1) * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9u;
    return (uint8_t)(mixed >> 59);
}

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    temp_folder_make(&f->folder);
    f->path = temp_folder_path(&f->folder, "gz");
    f->points = byte_source_points_new(BYTE_SOURCE_POINTS_SPACING_BYTES);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    byte_source_close(f->source);
    byte_source_points_free(f->points);
    temp_folder_remove(&f->folder);
    free(f);
    return 0;
}

static struct bytes compressed;  // the content of most files, made once

static int compress_content(void **state) {
    (void)state;
    uint8_t *data = malloc(CONTENT_BYTES);
    for (size_t i = 0; i < CONTENT_BYTES; i++) data[i] = byte_at(i);
    compressed = gzip_bytes((struct bytes){data, CONTENT_BYTES});
    free(data);
    return 0;
}

static int free_content(void **state) {
    (void)state;
    gzip_bytes_free(compressed);
    return 0;
}

static void write_file(struct fixture *f, struct bytes content) {
    temp_folder_write(&f->folder, "gz", content);
}

// A reader that knows what those before it learnt.
static void open_again(struct fixture *f) {
    byte_source_close(f->source);
    reading_init(&f->reading);
    f->storage = storage_read_for(local_storage(), &f->reading);
    f->source = byte_source_open(&f->storage, f->path.text, &f->error);
    assert_non_null(f->source);
    byte_source_share(f->source, f->points);
}

static uint64_t bytes_read(struct fixture *f) {
    return reading_look(&f->reading).all_bytes;
}

static void check_bytes(struct byte_source *source, uint64_t offset) {
    uint8_t read[1000];
    struct error error;
    assert_true(byte_source_read(source, offset, read, sizeof read, &error));
    for (size_t i = 0; i < sizeof read; i++) assert_int_equal(read[i], byte_at(offset + i));
}

static void write_content(struct fixture *f) {
    write_file(f, compressed);
}

static void the_next_reader_goes_on_from_the_nearest_point(void **state) {
    struct fixture *f = *state;
    write_content(f);
    open_again(f);
    check_bytes(f->source, CONTENT_BYTES - 1000);
    uint64_t whole = bytes_read(f);
    assert_true(whole > 12 << 20);
    for (uint64_t offset = CONTENT_BYTES - 5000; offset > NEAR_BYTES; offset -= NEAR_BYTES) {
        open_again(f);
        check_bytes(f->source, offset);
        assert_in_range(bytes_read(f), 1, 2 << 20);
    }
}

static void the_next_reader_knows_where_it_ends(void **state) {
    struct fixture *f = *state;
    uint64_t size;
    uint8_t one;
    write_content(f);
    open_again(f);
    assert_true(byte_source_size(f->source, &size, &f->error));
    open_again(f);
    assert_true(byte_source_size(f->source, &size, &f->error));
    assert_int_equal(size, CONTENT_BYTES);
    assert_false(byte_source_read(f->source, CONTENT_BYTES, &one, 1, &f->error));
    assert_int_equal(f->error.code, ERROR_TRUNCATED);
    assert_int_equal(bytes_read(f), HEAD_BYTES);
}

// What is wrong is found once, at its place and in its words, whoever asks and however.
static void check_verdict_is_kept(struct fixture *f, enum error_code code) {
    struct error again;
    uint64_t reached, known;
    uint8_t one;
    open_again(f);
    assert_false(byte_source_size(f->source, &reached, &f->error));
    assert_int_equal(f->error.code, code);
    open_again(f);
    assert_false(byte_source_size(f->source, &known, &again));
    assert_true(known == reached && again.offset == f->error.offset && again.code == code);
    assert_string_equal(again.message, f->error.message);
    assert_false(byte_source_read(f->source, reached, &one, 1, &again));
    assert_string_equal(again.message, f->error.message);
    assert_int_equal(bytes_read(f), HEAD_BYTES);
    assert_true(byte_source_read(f->source, reached - 1, &one, 1, &again));
}

static void a_verdict_is_kept(void **state) {
    struct fixture *f = *state;
    uint8_t *changed = malloc(compressed.size);
    memcpy(changed, compressed.data, compressed.size);
    memset(changed + compressed.size / 2, 0xff, 100);
    write_file(f, (struct bytes){changed, compressed.size});
    check_verdict_is_kept(f, ERROR_MALFORMED);
    free(changed);

    byte_source_points_free(f->points);
    f->points = byte_source_points_new(BYTE_SOURCE_POINTS_SPACING_BYTES);
    write_file(f, (struct bytes){compressed.data, compressed.size / 2});
    check_verdict_is_kept(f, ERROR_TRUNCATED);

    byte_source_points_free(f->points);
    f->points = byte_source_points_new(BYTE_SOURCE_POINTS_SPACING_BYTES);
    uint8_t *zeros = calloc(1, 96 << 20);
    struct bytes bomb = gzip_bytes((struct bytes){zeros, 96 << 20});
    write_file(f, bomb);
    check_verdict_is_kept(f, ERROR_TOO_BIG);
    gzip_bytes_free(bomb);
    free(zeros);
}

// A reader that jumps from point to point still compares the checksum at the end of the member.
static void a_checksum_is_checked_by_whoever_comes_to_it(void **state) {
    struct fixture *f = *state;
    uint64_t size;
    uint8_t *changed = malloc(compressed.size);
    memcpy(changed, compressed.data, compressed.size);
    changed[compressed.size - 6] ^= 1;
    write_file(f, (struct bytes){changed, compressed.size});
    free(changed);
    open_again(f);
    check_bytes(f->source, CONTENT_BYTES / 2);
    open_again(f);
    check_bytes(f->source, CONTENT_BYTES - NEAR_BYTES);
    assert_false(byte_source_size(f->source, &size, &f->error));
    assert_int_equal(f->error.code, ERROR_MALFORMED);
    assert_int_equal(size, CONTENT_BYTES);
    assert_true(bytes_read(f) < 12 << 20);
}

// That reading was stopped, or a disk failed, says nothing about the content.
static void what_is_about_a_moment_is_not_learnt(void **state) {
    struct fixture *f = *state;
    uint64_t size;
    write_content(f);
    open_again(f);
    check_bytes(f->source, CONTENT_BYTES / 2);
    reading_stop(&f->reading);
    assert_false(byte_source_size(f->source, &size, &f->error));
    assert_int_equal(f->error.code, ERROR_STOPPED);
    open_again(f);
    assert_true(byte_source_size(f->source, &size, &f->error));
    assert_int_equal(size, CONTENT_BYTES);
}

// Megabytes of members with nothing in them, and of zeros after them, between two bytes.
static void a_stretch_of_nothing_has_points_too(void **state) {
    struct fixture *f = *state;
    enum { MEMBERS = 1000000 };
    struct bytes first = gzip_bytes(BYTES("a")), nothing = gzip_bytes(BYTES("")), last = gzip_bytes(BYTES("b"));
    size_t size = first.size + MEMBERS * nothing.size + last.size;
    uint8_t *all = malloc(size), *at = all, read[1];
    memcpy(at, first.data, first.size);
    at += first.size;
    for (size_t i = 0; i < MEMBERS; i++, at += nothing.size) memcpy(at, nothing.data, nothing.size);
    memcpy(at, last.data, last.size);
    write_file(f, (struct bytes){all, size});
    for (int i = 0; i < 3; i++) {
        open_again(f);
        assert_true(byte_source_read(f->source, 1, read, 1, &f->error));
        assert_int_equal(read[0], 'b');
        if (i) assert_true(bytes_read(f) < size / 4);
    }
    gzip_bytes_free(first);
    gzip_bytes_free(nothing);
    gzip_bytes_free(last);
    free(all);
}

static void points_are_few_however_much_there_is(void **state) {
    struct fixture *f = *state;
    uint64_t size;
    enum { COPIES = 3 };
    byte_source_points_free(f->points);
    f->points = byte_source_points_new(100 << 10);
    uint8_t *all = malloc(COPIES * compressed.size);
    for (size_t i = 0; i < COPIES; i++) memcpy(all + i * compressed.size, compressed.data, compressed.size);
    write_file(f, (struct bytes){all, COPIES * compressed.size});
    assert_true(byte_source_points_bytes(f->points) < 3000);
    open_again(f);
    assert_true(byte_source_size(f->source, &size, &f->error));
    assert_true(size == (uint64_t)COPIES * CONTENT_BYTES);
    assert_in_range(byte_source_points_bytes(f->points), POINTS_MAX_BYTES / 3, POINTS_MAX_BYTES);
    open_again(f);
    for (uint64_t i = COPIES; i-- > 0;) {
        uint8_t read;
        assert_true(byte_source_read(f->source, i * CONTENT_BYTES + 12345 * i, &read, 1, &f->error));
        assert_int_equal(read, byte_at(12345 * i));
    }
    free(all);
}

static void read_at_random(void *context, size_t number) {
    const struct fixture *f = context;
    struct error error;
    struct byte_source *source = byte_source_open(local_storage(), f->path.text, &error);
    assert_non_null(source);
    byte_source_share(source, f->points);
    uint32_t random = (uint32_t)number;
    for (int i = 0; i < 40; i++) {
        random = random * 1664525 + 1013904223;
        check_bytes(source, random % (CONTENT_BYTES - 1000));
    }
    byte_source_close(source);
}

static void several_readers_at_once(void **state) {
    struct fixture *f = *state;
    byte_source_points_free(f->points);
    f->points = byte_source_points_new(100 << 10);  // they thin out while others go on from them
    write_content(f);
    parallel_run(read_at_random, f, 4);
    assert_in_range(byte_source_points_bytes(f->points), 1, POINTS_MAX_BYTES);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_next_reader_goes_on_from_the_nearest_point),
        TEST(the_next_reader_knows_where_it_ends),
        TEST(a_verdict_is_kept),
        TEST(a_checksum_is_checked_by_whoever_comes_to_it),
        TEST(what_is_about_a_moment_is_not_learnt),
        TEST(a_stretch_of_nothing_has_points_too),
        TEST(points_are_few_however_much_there_is),
        TEST(several_readers_at_once),
    };
    return cmocka_run_group_tests(tests, compress_content, free_content);
}
