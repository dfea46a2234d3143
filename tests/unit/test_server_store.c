// The store: what is made of a file is of one version of it, whenever the file is replaced; sessions as they are now.
#include "tests/unit/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "analysis/input/local_storage.h"
#include "server/store/module_summaries.h"
#include "server/store/profile_store.h"
#include "tests/unit/gzip_bytes.h"
#include "tests/unit/hlo_build.h"
#include "tests/unit/temp_folder.h"
#include "tests/unit/wire_build.h"

#define FIXTURES "tests/fixtures/logdir/plugins/profile/"

enum { SEEN_LONG_AGO_S = 1000 };

struct fixture {
    struct temp_folder folder;
    struct cache *cache;
    struct store *store;
    struct work work;
    struct error error;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    if (!f) return 1;
    temp_folder_make(&f->folder);
    f->cache = cache_new(64 << 20, 1);
    const struct storage_settings settings = storage_settings_usual();
    f->store = store_new(f->folder.path, &settings);
    work_init(&f->work, f->cache);
    *state = f;
    return f->cache && f->store ? 0 : 1;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    work_free(&f->work);
    store_free(f->store);
    cache_free(f->cache);
    temp_folder_remove(&f->folder);
    free(f);
    return 0;
}

// The folder looks as if nothing had happened in it for a while, so that its time can be relied on.
static void settle(struct fixture *f) {
    temp_folder_set_age(&f->folder, "", SEEN_LONG_AGO_S);
}

// A program of one buffer; its instruction's name fills the file, so that offsets of one are wrong in another.
static void write_program(struct fixture *f, const char *file_name, const char *name, int64_t buffer_bytes) {
    struct hlo_build b = {0};
    hlo_build_instruction(&b, 1, name, buffer_bytes / 4);
    hlo_build_buffer(&b, 10, 1, buffer_bytes, 0);
    hlo_build_allocation(&b, (struct hlo_build_allocation){.size = buffer_bytes, .buffers = {10}});
    temp_folder_write(&f->folder, file_name, hlo_build_finish(&b));
    hlo_build_free(&b);
    settle(f);
}

static void copy_fixture(struct fixture *f, const char *file_name, const char *fixture) {
    static uint8_t content[1 << 20];
    FILE *file = fopen(fixture, "rb");
    assert_non_null(file);
    size_t size = fread(content, 1, sizeof content, file);
    fclose(file);
    assert_in_range(size, 1, sizeof content - 1);
    temp_folder_write(&f->folder, file_name, (struct bytes){content, size});
    temp_folder_set_age(&f->folder, file_name, SEEN_LONG_AGO_S);
    settle(f);
}

static struct session_place the_session(const struct fixture *f) {
    const char *slash = strrchr(f->folder.path, '/');
    return (struct session_place){.name = slash + 1};
}

static struct session open_session(struct fixture *f, enum store_listing listing) {
    struct session session;
    struct session_place place = the_session(f);
    assert_true(store_open_session(f->store, &f->work, &place, listing, &session, &f->error));
    return session;
}

static const struct input_file *look(struct fixture *f) {
    struct session session = open_session(f, STORE_LIST_SEEN);
    assert_int_equal(session.files.file_count, 1);
    const struct input_file *file = file_store_look(&f->work, &session, 0, &f->error);
    assert_non_null(file);
    return file;
}

// --- One version ---

static void a_program_is_of_the_version_that_was_indexed(void **state) {
    struct fixture *f = *state;
    struct found_module old, new;
    write_program(f, "a.hlo_proto.pb", "short", 64);
    const struct input_file *before = look(f);
    const struct file_index *index = module_store_index(&f->work, before, &f->error);
    assert_non_null(index);
    write_program(f, "a.hlo_proto.pb", "a_name_that_makes_the_file_longer", 128);
    assert_true(module_store_name(&f->work, before, &index->index.programs[0], &old, &f->error));
    assert_null(module_store_load(&f->work, &old, &f->error));
    assert_int_equal(f->error.code, ERROR_UNREADABLE);

    const struct input_file *after = look(f);
    index = module_store_index(&f->work, after, &f->error);
    assert_non_null(index);
    assert_true(module_store_name(&f->work, after, &index->index.programs[0], &new, &f->error));
    assert_string_not_equal(old.key, new.key);
    const struct hlo_module *module = module_store_load(&f->work, &new, &f->error);
    assert_non_null(module);
    assert_int_equal(module->buffers[0].size_bytes, 128);
}

static void a_pyramid_is_of_the_profile_that_it_was_built_from(void **state) {
    struct fixture *f = *state;
    copy_fixture(f, "vm.xplane.pb", FIXTURES "tf_leak/vm.xplane.pb.gz");
    const struct input_file *before = look(f);
    const struct memory_profile *old = profile_store_load(&f->work, before, &f->error);
    assert_non_null(old);
    copy_fixture(f, "vm.xplane.pb", FIXTURES "tf_tiny/vm.xplane.pb.gz");
    assert_non_null(profile_store_pyramid(&f->work, before, old, &old->timelines[0], &f->error));

    const struct input_file *after = look(f);
    const struct memory_profile *new = profile_store_load(&f->work, after, &f->error);
    assert_non_null(new);
    assert_int_not_equal(new->timelines[0].count, old->timelines[0].count);
    const struct timeline_pyramid *pyramid = profile_store_pyramid(&f->work, after, new, &new->timelines[0], &f->error);
    assert_non_null(pyramid);
    assert_int_equal(pyramid->event_count, new->timelines[0].count);
}

static void what_is_wrong_with_a_file_is_kept_and_goes_with_its_version(void **state) {
    struct fixture *f = *state;
    temp_folder_write(&f->folder, "vm.xplane.pb", BYTES("\x0f\x0f\x0f\x0f"));
    temp_folder_set_age(&f->folder, "vm.xplane.pb", SEEN_LONG_AGO_S);
    const struct input_file *before = look(f);
    assert_null(profile_store_load(&f->work, before, &f->error));
    size_t loads = cache_stats_read(f->cache).loads;
    struct error again;
    assert_null(profile_store_load(&f->work, before, &again));
    assert_int_equal(again.code, f->error.code);
    assert_string_equal(again.message, f->error.message);
    assert_int_equal(cache_stats_read(f->cache).loads, loads);
    copy_fixture(f, "vm.xplane.pb", FIXTURES "tf_tiny/vm.xplane.pb.gz");
    assert_non_null(profile_store_load(&f->work, look(f), &f->error));
}

// --- .gz ---

enum {
    FILLER_BYTES = 24 << 20,
    BOMB_BYTES = 96 << 20,
    BOMB_FRONT_BYTES = 400 << 10,
    LITTLE_BYTES = 2 << 20,
    POINT_LEAST_BYTES = 32 << 10,
    FRONT_BYTES = (64 << 10) + 3
};

// Bytes that shrink to a half.
static uint8_t *noise(size_t size) {
    uint8_t *bytes = malloc(size);
    uint32_t random = 1;
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)((random = random * 1664525 + 1013904223) >> 28);
    return bytes;
}

// A plane of a device that weighs much, and then the fixture's: two members of one .gz.
static size_t write_large_gz(struct fixture *f, const char *fixture) {
    static uint8_t small[1 << 20];
    struct wire_build plane = {0}, space = {0};
    uint8_t *filler = noise(FILLER_BYTES);
    wire_build_bytes(&plane, 2, BYTES("/device:TPU:0"));
    wire_build_bytes(&plane, 15, (struct bytes){filler, FILLER_BYTES});
    wire_build_message(&space, 1, &plane);
    struct bytes first = gzip_bytes(wire_build_view(&space));
    FILE *file = fopen(fixture, "rb");
    assert_non_null(file);
    size_t size = fread(small, 1, sizeof small, file);
    fclose(file);
    uint8_t *both = malloc(first.size + size);
    memcpy(both, first.data, first.size);
    memcpy(both + first.size, small, size);
    temp_folder_write(&f->folder, "vm.xplane.pb.gz", (struct bytes){both, first.size + size});
    temp_folder_set_age(&f->folder, "vm.xplane.pb.gz", SEEN_LONG_AGO_S);
    settle(f);
    size += first.size;
    free(both);
    gzip_bytes_free(first);
    wire_build_free(&space);
    free(filler);
    return size;
}

// Another request, which may find what the ones before it left in the cache.
static void begin_again(struct fixture *f, struct reading *reading) {
    work_free(&f->work);
    work_init(&f->work, f->cache);
    reading_init(reading);
    f->work.reading = reading;
}

static void a_gz_is_inflated_once(void **state) {
    struct fixture *f = *state;
    struct reading reading;
    size_t size = write_large_gz(f, FIXTURES "tf_tiny/vm.xplane.pb.gz");
    begin_again(f, &reading);
    assert_non_null(module_store_index(&f->work, look(f), &f->error));
    assert_true(reading_look(&reading).all_bytes >= size);
    begin_again(f, &reading);
    const struct memory_profile *profile = profile_store_load(&f->work, look(f), &f->error);
    assert_non_null(profile);
    assert_int_not_equal(profile->timeline_count, 0);
    assert_in_range(reading_look(&reading).all_bytes, 1, LITTLE_BYTES);
}

static void where_to_go_on_in_a_gz_is_counted(void **state) {
    struct fixture *f = *state;
    struct reading reading;
    write_large_gz(f, FIXTURES "tf_tiny/vm.xplane.pb.gz");
    begin_again(f, &reading);
    size_t before = cache_stats_read(f->cache).used_bytes;
    assert_non_null(module_store_index(&f->work, look(f), &f->error));
    begin_again(f, &reading);
    size_t way_bytes = FILLER_BYTES + FILLER_BYTES / 2, points = way_bytes / BYTE_SOURCE_POINTS_SPACING_BYTES;
    assert_true(cache_stats_read(f->cache).used_bytes - before >= points * POINT_LEAST_BYTES);
}

static void what_is_wrong_with_a_gz_is_found_once(void **state) {
    struct fixture *f = *state;
    struct reading reading;
    uint8_t *zeros = calloc(1, BOMB_BYTES);
    struct bytes bomb = gzip_bytes((struct bytes){zeros, BOMB_BYTES});
    free(zeros);
    struct wire_build head = {0};
    wire_build_key(&head, 1, WIRE_LEN);  // a plane that is nearly all one field
    wire_build_bare_varint(&head, BOMB_BYTES);
    wire_build_bytes(&head, 2, BYTES("/device:TPU:0"));
    wire_build_key(&head, 15, WIRE_LEN);
    wire_build_bare_varint(&head, BOMB_BYTES - 100);
    uint8_t *filler = noise(BOMB_FRONT_BYTES);
    wire_build_raw(&head, (struct bytes){filler, BOMB_FRONT_BYTES});
    free(filler);
    struct bytes begin = gzip_bytes(wire_build_view(&head));
    uint8_t *both = malloc(begin.size + bomb.size);
    memcpy(both, begin.data, begin.size);
    memcpy(both + begin.size, bomb.data, bomb.size);
    temp_folder_write(&f->folder, "vm.xplane.pb.gz", (struct bytes){both, begin.size + bomb.size});
    temp_folder_set_age(&f->folder, "vm.xplane.pb.gz", SEEN_LONG_AGO_S);
    settle(f);
    begin_again(f, &reading);
    const struct file_index *index = module_store_index(&f->work, look(f), &f->error);
    assert_true(index && index->fault && index->fault->code == ERROR_TOO_BIG);
    assert_true(reading_look(&reading).all_bytes > FRONT_BYTES);
    begin_again(f, &reading);
    const struct memory_profile *profile = profile_store_load(&f->work, look(f), &f->error);
    assert_true(profile || f->error.code == ERROR_TOO_BIG);  // it looks behind that plane as well
    assert_in_range(reading_look(&reading).all_bytes, 0, FRONT_BYTES);
    free(both);
    gzip_bytes_free(begin);
    gzip_bytes_free(bomb);
    wire_build_free(&head);
}

// --- Sessions ---

static void a_file_that_comes_is_seen(void **state) {
    struct fixture *f = *state;
    write_program(f, "a.hlo_proto.pb", "a", 64);
    assert_int_equal(open_session(f, STORE_LIST_SEEN).files.file_count, 1);
    write_program(f, "b.hlo_proto.pb", "b", 64);
    temp_folder_set_age(&f->folder, "", SEEN_LONG_AGO_S - 1);  // settled, and another time than before
    assert_int_equal(open_session(f, STORE_LIST_SEEN).files.file_count, 2);
    temp_folder_write(&f->folder, "c.hlo_proto.pb", BYTES("c"));  // a moment ago
    assert_int_equal(open_session(f, STORE_LIST_SEEN).files.file_count, 3);
}

// Where a file system keeps no time of a folder, only listing it anew tells.
static void a_file_that_the_folders_time_does_not_tell_is_listed_anew(void **state) {
    struct fixture *f = *state;
    write_program(f, "a.hlo_proto.pb", "a", 64);
    struct session before = open_session(f, STORE_LIST_SEEN);
    write_program(f, "b.hlo_proto.pb", "b", 64);
    struct session after = open_session(f, STORE_LIST_NOTHING);
    assert_int_equal(after.files.file_count, 0);
    if (file_version_equal(&before.version, &after.version))
        assert_int_equal(open_session(f, STORE_LIST_SEEN).files.file_count, 1);
    assert_int_equal(open_session(f, STORE_LIST_ANEW).files.file_count, 2);
}

// --- Figures in the background ---

// A request of its own, as the page's are: true when no row is pending.
static bool ask(struct fixture *f, struct module_summaries *summaries, struct work *work,
                struct module_figures *figures) {
    struct session_place place = the_session(f);
    assert_true(module_summaries_ask(summaries, work, &place, figures, &f->error));
    return figures->is_complete;
}

static void wait_until_complete(struct fixture *f, struct module_summaries *summaries) {
    bool is_complete = false;
    while (!is_complete) {
        struct work work;
        struct module_figures figures;
        work_init(&work, f->cache);
        is_complete = ask(f, summaries, &work, &figures);
        work_free(&work);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static void only_what_is_new_is_told_since_a_version(void **state) {
    struct load_wish small = {.lane = LOAD_SMALL}, outer;
    struct fixture *f = *state;
    struct module_summaries *summaries = module_summaries_new(f->cache, f->store);
    struct session_place place = the_session(f);
    struct module_figures first, later, last;
    assert_non_null(summaries);
    for (int i = 0; i < 5; i++) {
        char name[] = "a.hlo_proto.pb";
        name[0] = (char)('a' + i);
        write_program(f, name, "op", 64 * (int64_t)(i + 1));
    }
    cache_take_slot(f->cache, small, NULL, &outer);  // the worker waits for it
    assert_false(ask(f, summaries, &f->work, &first));
    assert_int_equal(first.list.row_count, 5);
    assert_true(module_summaries_changed(summaries, &f->work, &place, first.version, &later));
    assert_int_equal(later.list.row_count, 0);
    cache_give_slot(f->cache, small, &outer);
    wait_until_complete(f, summaries);
    assert_true(module_summaries_changed(summaries, &f->work, &place, first.version, &later));
    assert_int_equal(later.list.row_count, 5);
    assert_true(later.is_complete);
    assert_true(module_summaries_changed(summaries, &f->work, &place, later.version, &last));
    assert_int_equal(last.list.row_count, 0);
    static const char *const strange[] = {"",  "-", "00000000000000000000000000000000-1",
                                          "0", "é", "99999999999999999999999999999999999999999999999999"};
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++)
        assert_false(module_summaries_changed(summaries, &f->work, &place, strange[i], &last));
    module_summaries_free(summaries);
}

static void a_file_that_is_replaced_before_its_turn_gets_its_own_figures(void **state) {
    struct load_wish small = {.lane = LOAD_SMALL}, outer;
    struct fixture *f = *state;
    struct module_summaries *summaries = module_summaries_new(f->cache, f->store);
    struct session_place place = the_session(f);
    struct module_figures old, new, ignored;
    assert_non_null(summaries);
    write_program(f, "a.hlo_proto.pb", "short", 64);
    cache_take_slot(f->cache, small, NULL, &outer);
    assert_false(ask(f, summaries, &f->work, &old));
    write_program(f, "a.hlo_proto.pb", "a_name_that_makes_the_file_longer", 4096);
    cache_give_slot(f->cache, small, &outer);
    wait_until_complete(f, summaries);
    assert_false(module_summaries_changed(summaries, &f->work, &place, old.version, &ignored));
    assert_true(ask(f, summaries, &f->work, &new));
    assert_int_equal(new.list.row_count, 1);
    assert_int_equal(new.rows[0].state, MODULE_SUMMARY_READY);
    assert_int_equal(new.rows[0].spaces[0].total_bytes, 4096);
    module_summaries_free(summaries);
}

// A want of descriptors says nothing of the file: what was found then is not told, but looked for anew.
static void wait_while_nothing_opens(struct fixture *f, struct module_summaries *summaries, const char *since) {
    struct session_place place = the_session(f);
    struct module_figures figures;
    bool is_kept = true;
    while (is_kept) {
        struct work work;
        work_init(&work, f->cache);
        is_kept = module_summaries_changed(summaries, &work, &place, since, &figures);
        if (is_kept) assert_false(figures.is_complete);
        work_free(&work);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static void what_could_not_be_read_once_is_read_again(void **state) {
    struct load_wish small = {.lane = LOAD_SMALL}, outer;
    struct fixture *f = *state;
    struct module_summaries *summaries = module_summaries_new(f->cache, f->store);
    struct module_figures first, later;
    struct rlimit limit;
    assert_non_null(summaries);
    write_program(f, "a.hlo_proto.pb", "op", 64);
    cache_take_slot(f->cache, small, NULL, &outer);  // the worker waits for it
    assert_false(ask(f, summaries, &f->work, &first));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const struct rlimit none = {0, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    cache_give_slot(f->cache, small, &outer);
    wait_while_nothing_opens(f, summaries, first.version);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    wait_until_complete(f, summaries);
    assert_true(ask(f, summaries, &f->work, &later));
    assert_int_equal(later.rows[0].state, MODULE_SUMMARY_READY);
    assert_int_equal(later.rows[0].spaces[0].total_bytes, 64);
    module_summaries_free(summaries);
}

static void files_of_one_program_each_are_told_apart_by_their_names(void **state) {
    struct fixture *f = *state;
    struct module_list list;
    struct found_module found;
    write_program(f, "a.hlo_proto.pb", "same", 64);
    struct session alone = open_session(f, STORE_LIST_ANEW);
    assert_string_equal(alone.files.files[0].host, "");
    write_program(f, "b.hlo_proto.pb", "same", 128);
    write_program(f, "c.hlo_proto.pb", "same", 128);
    struct session session = open_session(f, STORE_LIST_ANEW);
    assert_true(module_list_read(&f->work, &session, &list, &f->error));
    assert_int_equal(list.row_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const char *name = session.files.files[i].name;
        const struct module_row *row = &list.rows[i];
        assert_int_equal(row->host_count, 1);
        assert_string_equal(list.hosts[row->hosts[0]].file->host, name);
        const char *module = arena_string(&f->work.arena, row->program->name);
        assert_true(module_store_find(&f->work, &session, name, module, &found, &f->error));
        assert_string_equal(found.file->name, name);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_program_is_of_the_version_that_was_indexed),
        TEST(a_pyramid_is_of_the_profile_that_it_was_built_from),
        TEST(what_is_wrong_with_a_file_is_kept_and_goes_with_its_version),
        TEST(a_gz_is_inflated_once),
        TEST(where_to_go_on_in_a_gz_is_counted),
        TEST(what_is_wrong_with_a_gz_is_found_once),
        TEST(a_file_that_comes_is_seen),
        TEST(files_of_one_program_each_are_told_apart_by_their_names),
        TEST(a_file_that_the_folders_time_does_not_tell_is_listed_anew),
        TEST(only_what_is_new_is_told_since_a_version),
        TEST(a_file_that_is_replaced_before_its_turn_gets_its_own_figures),
        TEST(what_could_not_be_read_once_is_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
