// analysis/input/byte_source: plain files, .gz, memory; and files that are wrong or change while they are read.
#include "analysis/input/byte_source.h"
#include "analysis/input/local_storage.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/cmocka_all.h"
#include "tests/unit/gzip_bytes.h"
#include "tests/unit/temp_folder.h"

enum { CONTENT_BYTES = 3 << 20 };

struct fixture {
    struct temp_folder folder;
    uint8_t *data;
    struct bytes content, compressed;
    struct error error;
};

// Bytes that compress, but in which no place looks like another.
static uint8_t byte_at(uint64_t offset) {
    uint64_t mixed = (offset + 1) * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9u;
    return (uint8_t)(mixed >> 60);
}

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->data = malloc(CONTENT_BYTES);
    for (size_t i = 0; i < CONTENT_BYTES; i++) fixture->data[i] = byte_at(i);
    fixture->content = (struct bytes){fixture->data, CONTENT_BYTES};
    fixture->compressed = gzip_bytes(fixture->content);
    temp_folder_make(&fixture->folder);
    temp_folder_write(&fixture->folder, "plain", fixture->content);
    temp_folder_write(&fixture->folder, "gz", fixture->compressed);
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    temp_folder_remove(&fixture->folder);
    gzip_bytes_free(fixture->compressed);
    free(fixture->data);
    free(fixture);
    return 0;
}

static void check_read(struct byte_source *source, uint64_t offset, size_t size) {
    struct error error;
    uint8_t *read = malloc(size + 1);
    assert_true(byte_source_read(source, offset, read, size, &error));
    for (size_t i = 0; i < size; i++) {
        if (read[i] != byte_at(offset + i)) fail_msg("a wrong byte at %zu of a read at %zu", i, (size_t)offset);
    }
    free(read);
}

static void check_peek(struct byte_source *source, uint64_t offset, size_t size, size_t expected) {
    struct error error;
    struct bytes view;
    assert_true(byte_source_peek(source, offset, size, &view, &error));
    assert_int_equal(view.size, expected);
    for (size_t i = 0; i < expected; i++) assert_int_equal(view.data[i], byte_at(offset + i));
}

// Everything that can be asked of a source over the fixture's content.
static void check_source(struct byte_source *source) {
    struct error error;
    uint64_t size;
    assert_non_null(source);
    check_peek(source, 0, 20, 20);
    check_read(source, 5, 10);
    check_read(source, 65530, 20);  // over the window's edge
    check_read(source, 100, 0);
    check_read(source, 1000, 2 << 20);  // larger than the window
    check_read(source, CONTENT_BYTES - 7, 7);
    check_peek(source, CONTENT_BYTES - 7, 20, 7);  // fewer at the end
    check_peek(source, CONTENT_BYTES, 20, 0);
    check_peek(source, UINT64_MAX, 20, 0);
    check_read(source, 0, 100);  // back to the start
    assert_true(byte_source_size(source, &size, &error));
    assert_int_equal(size, CONTENT_BYTES);
    uint32_t random = 12345;
    for (int i = 0; i < 300; i++) {
        random = random * 1664525 + 1013904223;
        uint64_t offset = random % (CONTENT_BYTES - 100000);
        check_read(source, offset, random >> 8 & (i % 8 ? 0xff : 0xffff));
        check_peek(source, offset, 64, 64);
    }
    byte_source_close(source);
}

static void a_plain_file(void **state) {
    struct fixture *f = *state;
    struct temp_path path = temp_folder_path(&f->folder, "plain");
    struct byte_source *source = byte_source_open(local_storage(), path.text, &f->error);
    assert_string_equal(byte_source_path(source), path.text);
    check_source(source);
}

static void a_gz_by_its_magic_bytes(void **state) {
    struct fixture *f = *state;
    struct temp_path path = temp_folder_path(&f->folder, "gz");
    check_source(byte_source_open(local_storage(), path.text, &f->error));
}

static void memory_plain_and_gz(void **state) {
    struct fixture *f = *state;
    check_source(byte_source_of_memory(f->content, "sample", &f->error));
    check_source(byte_source_of_memory(f->compressed, "sample", &f->error));
}

static void several_gz_members_are_one_content(void **state) {
    struct fixture *f = *state;
    static const uint8_t zeros[100000];
    size_t half = CONTENT_BYTES / 2;
    struct bytes first = gzip_bytes((struct bytes){f->data, half});
    struct bytes second = gzip_bytes((struct bytes){f->data + half, CONTENT_BYTES - half});
    size_t size = first.size + second.size + sizeof zeros;
    uint8_t *both = malloc(size);
    memcpy(both, first.data, first.size);
    memcpy(both + first.size, second.data, second.size);
    memcpy(both + first.size + second.size, zeros, sizeof zeros);  // tape padding
    check_source(byte_source_of_memory((struct bytes){both, size}, "members", &f->error));
    free(both);
    gzip_bytes_free(first);
    gzip_bytes_free(second);
}

// More content than the saved points reach at their first spacing: they thin out, and every place stays readable.
static void a_large_gz_is_read_anywhere(void **state) {
    struct fixture *f = *state;
    size_t copies = 50;
    uint8_t *large = malloc(copies * f->compressed.size);
    for (size_t i = 0; i < copies; i++) memcpy(large + i * f->compressed.size, f->compressed.data, f->compressed.size);
    struct byte_source *source = byte_source_of_memory((struct bytes){large, copies * f->compressed.size}, "large",
                                                       &f->error);
    uint64_t size;
    assert_true(byte_source_size(source, &size, &f->error));
    assert_int_equal(size, copies * CONTENT_BYTES);
    for (size_t i = copies; i-- > 0;) {
        struct bytes view;
        uint64_t within = (uint64_t)i * 54321 % CONTENT_BYTES;
        assert_true(byte_source_peek(source, (uint64_t)i * CONTENT_BYTES + within, 1, &view, &f->error));
        assert_int_equal(view.data[0], byte_at(within));
    }
    byte_source_close(source);
    free(large);
}

static void an_empty_file_is_empty(void **state) {
    struct fixture *f = *state;
    temp_folder_write(&f->folder, "empty", (struct bytes){0});
    struct temp_path path = temp_folder_path(&f->folder, "empty");
    struct byte_source *source = byte_source_open(local_storage(), path.text, &f->error);
    uint64_t size;
    assert_true(byte_source_size(source, &size, &f->error));
    assert_int_equal(size, 0);
    check_peek(source, 0, 20, 0);
    byte_source_close(source);
}

static void a_read_past_the_end_is_truncated(void **state) {
    struct fixture *f = *state;
    struct bytes both[] = {f->content, f->compressed};
    uint8_t buffer[100];
    for (size_t i = 0; i < 2; i++) {
        struct byte_source *source = byte_source_of_memory(both[i], "sample", &f->error);
        assert_false(byte_source_read(source, CONTENT_BYTES - 50, buffer, 100, &f->error));
        assert_int_equal(f->error.code, ERROR_TRUNCATED);
        assert_int_equal(f->error.offset, CONTENT_BYTES);
        assert_string_equal(f->error.file, "sample");
        assert_false(byte_source_read(source, UINT64_MAX - 10, buffer, 100, &f->error));
        assert_int_equal(f->error.code, ERROR_TRUNCATED);
        byte_source_close(source);
    }
}

static void loading_has_a_limit(void **state) {
    struct fixture *f = *state;
    struct arena arena;
    struct bytes loaded;
    arena_init(&arena, 1 << 20);
    struct byte_source *source = byte_source_of_memory(f->content, "sample", &f->error);
    assert_true(byte_source_load(source, 10, 5000, 5000, &arena, &loaded, &f->error));
    assert_true(loaded.size == 5000 && loaded.data[4999] == byte_at(5009));
    size_t used = arena.used_bytes;
    assert_false(byte_source_load(source, 10, 5001, 5000, &arena, &loaded, &f->error));
    assert_int_equal(f->error.code, ERROR_TOO_BIG);
    assert_false(byte_source_load(source, CONTENT_BYTES - 10, 11, 5000, &arena, &loaded, &f->error));
    assert_int_equal(f->error.code, ERROR_TRUNCATED);
    assert_int_equal(arena.used_bytes, used);
    assert_false(byte_source_load(source, 0, 2 << 20, UINT64_MAX, &arena, &loaded, &f->error));
    assert_int_equal(f->error.code, ERROR_TOO_BIG);
    assert_false(byte_source_load(source, UINT64_MAX, UINT64_MAX, UINT64_MAX, &arena, &loaded, &f->error));
    byte_source_close(source);
    arena_free(&arena);
}

static void a_file_that_shrinks_is_an_error(void **state) {
    struct fixture *f = *state;
    const char *names[] = {"plain", "gz"};
    assert_true(f->compressed.size > 1 << 20);
    for (size_t i = 0; i < 2; i++) {
        struct temp_path path = temp_folder_path(&f->folder, names[i]);
        struct byte_source *source = byte_source_open(local_storage(), path.text, &f->error);
        check_peek(source, 0, 20, 20);
        assert_int_equal(truncate(path.text, 100000), 0);
        uint8_t *buffer = malloc(CONTENT_BYTES);
        assert_false(byte_source_read(source, 0, buffer, CONTENT_BYTES, &f->error));
        assert_int_equal(f->error.code, ERROR_TRUNCATED);
        assert_string_equal(f->error.file, path.text);
        assert_int_equal(f->error.offset, i == 0 ? 100000 : f->error.offset);
        assert_non_null(strstr(f->error.message, "when it was opened"));
        free(buffer);
        byte_source_close(source);
    }
}

// What was open stays readable: the system keeps the file until it is closed.
// Above a few MiB two threads read a range of a plain file: the bytes and the error are those of one.
static void a_large_range_is_loaded_whole_or_not_at_all(void **state) {
    struct fixture *f = *state;
    struct temp_path path = temp_folder_path(&f->folder, "plain");
    struct byte_source *source = byte_source_open(local_storage(), path.text, &f->error);
    struct arena arena;
    struct bytes loaded;
    arena_init(&arena, 0);
    assert_true(byte_source_load(source, 7, CONTENT_BYTES - 10, UINT64_MAX, &arena, &loaded, &f->error));
    assert_memory_equal(loaded.data, f->data + 7, CONTENT_BYTES - 10);
    assert_int_equal(truncate(path.text, 100000), 0);
    assert_false(byte_source_load(source, 7, CONTENT_BYTES - 10, UINT64_MAX, &arena, &loaded, &f->error));
    assert_int_equal(f->error.code, ERROR_TRUNCATED);
    assert_int_equal(f->error.offset, 100000);
    arena_free(&arena);
    byte_source_close(source);
}

static void a_file_that_vanishes_is_read_to_its_end(void **state) {
    struct fixture *f = *state;
    struct temp_path path = temp_folder_path(&f->folder, "plain");
    struct byte_source *source = byte_source_open(local_storage(), path.text, &f->error);
    assert_int_equal(unlink(path.text), 0);
    check_source(source);
    assert_null(byte_source_open(local_storage(), path.text, &f->error));
    assert_int_equal(f->error.code, ERROR_NOT_FOUND);
    assert_string_equal(f->error.file, path.text);
}

// A run of one byte is a single match: zlib gives it piece by piece without taking more input.
static void a_cut_gz_of_one_long_match(void **state) {
    struct fixture *f = *state;
    uint8_t *zeros = calloc(1, 1 << 20);
    struct bytes compressed = gzip_bytes((struct bytes){zeros, 1 << 20});
    for (size_t left_out = 1; left_out < 40; left_out++) {
        struct bytes content = {compressed.data, compressed.size - left_out};
        struct byte_source *source = byte_source_of_memory(content, "cut", &f->error);
        uint64_t reached;
        struct bytes view;
        assert_false(byte_source_size(source, &reached, &f->error));
        for (uint64_t offset = 0; offset < reached; offset += 777) {
            assert_true(byte_source_peek(source, offset, 1, &view, &f->error));
            assert_int_equal(view.size, 1);
        }
        assert_true(byte_source_peek(source, reached - 1, 1, &view, &f->error));
        assert_false(byte_source_peek(source, reached, 1, &view, &f->error));
        byte_source_close(source);
    }
    gzip_bytes_free(compressed);
    free(zeros);
}

// Cut at any place, a .gz gives what lies before, and then says that it ends early.
static void a_cut_gz_is_readable_up_to_the_cut(void **state) {
    struct fixture *f = *state;
    struct bytes small = gzip_bytes((struct bytes){f->data, 2000});
    for (size_t size = 3; size < small.size; size++) {
        struct byte_source *source = byte_source_of_memory((struct bytes){small.data, size}, "cut", &f->error);
        uint64_t reached;
        uint8_t buffer[2000];
        assert_false(byte_source_size(source, &reached, &f->error));
        assert_int_equal(f->error.code, ERROR_TRUNCATED);
        assert_string_equal(f->error.file, "cut");
        assert_int_equal(f->error.offset, reached);
        assert_in_range(reached, 0, 2000);
        assert_true(byte_source_read(source, 0, buffer, (size_t)reached, &f->error));
        assert_int_equal(memcmp(buffer, f->data, (size_t)reached), 0);
        for (size_t offset = (size_t)reached; offset-- > 0;) {  // and backwards, byte by byte
            struct bytes view;
            assert_true(byte_source_peek(source, offset, 1, &view, &f->error));
            assert_true(view.size == 1 && view.data[0] == f->data[offset]);
        }
        if (reached < 2000) assert_false(byte_source_read(source, 0, buffer, (size_t)reached + 1, &f->error));
        byte_source_close(source);
    }
    gzip_bytes_free(small);
}

static void check_corrupt(struct fixture *f, struct bytes content, const char *words) {
    struct byte_source *source = byte_source_of_memory(content, "corrupt", &f->error);
    uint64_t reached;
    assert_false(byte_source_size(source, &reached, &f->error));
    assert_int_equal(f->error.code, ERROR_MALFORMED);
    assert_string_equal(f->error.file, "corrupt");
    if (!strstr(f->error.message, words)) fail_msg("not about '%s': %s", words, f->error.message);
    byte_source_close(source);
}

static void a_corrupt_gz_is_an_error(void **state) {
    struct fixture *f = *state;
    size_t size = f->compressed.size;
    uint8_t *changed = malloc(size + 100);
    memcpy(changed, f->compressed.data, size);
    changed[size - 6] ^= 1;  // the checksum
    check_corrupt(f, (struct bytes){changed, size}, "corrupt");
    memcpy(changed, f->compressed.data, size);
    memset(changed + size / 2, 0xff, 100);
    check_corrupt(f, (struct bytes){changed, size}, "corrupt");
    memcpy(changed, f->compressed.data, size);
    memset(changed + size, 'x', 100);
    check_corrupt(f, (struct bytes){changed, size + 100}, "expected the end of the gzip stream");
    free(changed);
}

// Reading a large .gz backwards in small steps costs too much at some point: an error, not a hang.
static void work_on_a_gz_is_bounded(void **state) {
    struct fixture *f = *state;
    size_t size = 64 << 20;
    uint8_t *zeros = calloc(1, size);
    struct bytes compressed = gzip_bytes((struct bytes){zeros, size});
    struct byte_source *source = byte_source_of_memory(compressed, "backwards.gz", &f->error);
    struct bytes view;
    bool ok = true;
    for (size_t offset = size; ok && offset > 5000; offset -= 5000)
        ok = byte_source_peek(source, offset - 1, 1, &view, &f->error);
    assert_false(ok);
    assert_int_equal(f->error.code, ERROR_TOO_BIG);
    assert_non_null(strstr(f->error.message, "uncompress it"));
    byte_source_close(source);
    gzip_bytes_free(compressed);
    free(zeros);
}

// Of a small file that inflates a thousandfold no more is inflated than what any .gz may hold, and it is said why.
static void a_gz_bomb_is_refused_early(void **state) {
    struct fixture *f = *state;
    size_t size = 96 << 20;
    uint8_t *zeros = calloc(1, size);
    struct bytes compressed = gzip_bytes((struct bytes){zeros, size});
    struct byte_source *source = byte_source_of_memory(compressed, "bomb.gz", &f->error);
    uint64_t reached;
    assert_false(byte_source_size(source, &reached, &f->error));
    assert_int_equal(f->error.code, ERROR_TOO_BIG);
    assert_non_null(strstr(f->error.message, "100 times the compressed size"));
    assert_in_range(reached, 64 << 20, 65 << 20);
    assert_true(byte_source_read(source, 60 << 20, zeros, 1 << 20, &f->error));
    byte_source_close(source);
    gzip_bytes_free(compressed);
    free(zeros);
}

static void only_regular_files_are_opened(void **state) {
    struct fixture *f = *state;
    struct temp_path fifo = temp_folder_path(&f->folder, "fifo");
    assert_int_equal(mkfifo(fifo.text, 0600), 0);
    assert_null(byte_source_open(local_storage(), fifo.text, &f->error));
    assert_int_equal(f->error.code, ERROR_UNREADABLE);
    assert_null(byte_source_open(local_storage(), f->folder.path, &f->error));
    assert_int_equal(f->error.code, ERROR_UNREADABLE);
    assert_non_null(strstr(f->error.message, "a folder"));
    assert_null(byte_source_open(local_storage(), "/dev/zero", &f->error));
    assert_int_equal(f->error.code, ERROR_UNREADABLE);
    assert_null(byte_source_open(local_storage(), "", &f->error));
    assert_int_equal(f->error.code, ERROR_NOT_FOUND);
}

static void another_time_is_another_version(void **state) {
    struct fixture *f = *state;
    struct temp_path path = temp_folder_path(&f->folder, "plain");
    struct byte_source *source = byte_source_open(local_storage(), path.text, &f->error);
    struct file_version before = byte_source_version(source);
    assert_int_equal(before.size_bytes, CONTENT_BYTES);
    byte_source_close(source);
    temp_folder_set_age(&f->folder, "plain", 1000);
    source = byte_source_open(local_storage(), path.text, &f->error);
    struct file_version after = byte_source_version(source);
    assert_true(before.inode == after.inode && !file_version_equal(&before, &after));
    byte_source_close(source);
    byte_source_close(NULL);
}

// A hole of 5 GiB: offsets past 32 bits, and far more than is read.
static void a_file_over_4_gib(void **state) {
    struct fixture *f = *state;
    struct temp_path path = temp_folder_path(&f->folder, "sparse");
    uint64_t end = (uint64_t)5 << 30;
    temp_folder_write(&f->folder, "sparse", BYTES("start"));
    if (truncate(path.text, (off_t)end) != 0) skip();
    FILE *file = fopen(path.text, "r+b");
    assert_int_equal(fseeko(file, (off_t)end, SEEK_SET), 0);
    assert_int_equal(fwrite("the end", 1, 7, file), 7);
    assert_int_equal(fclose(file), 0);
    struct byte_source *source = byte_source_open(local_storage(), path.text, &f->error);
    uint64_t size;
    char words[7];
    assert_true(byte_source_size(source, &size, &f->error));
    assert_true(size == end + 7);
    assert_true(byte_source_read(source, end, words, 7, &f->error));
    assert_memory_equal(words, "the end", 7);
    byte_source_close(source);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_plain_file),
        TEST(a_gz_by_its_magic_bytes),
        TEST(memory_plain_and_gz),
        TEST(several_gz_members_are_one_content),
        TEST(a_large_gz_is_read_anywhere),
        TEST(an_empty_file_is_empty),
        TEST(a_read_past_the_end_is_truncated),
        TEST(loading_has_a_limit),
        TEST(a_file_that_shrinks_is_an_error),
        TEST(a_large_range_is_loaded_whole_or_not_at_all),
        TEST(a_file_that_vanishes_is_read_to_its_end),
        TEST(a_cut_gz_is_readable_up_to_the_cut),
        TEST(a_cut_gz_of_one_long_match),
        TEST(a_corrupt_gz_is_an_error),
        TEST(work_on_a_gz_is_bounded),
        TEST(a_gz_bomb_is_refused_early),
        TEST(only_regular_files_are_opened),
        TEST(another_time_is_another_version),
        TEST(a_file_over_4_gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
