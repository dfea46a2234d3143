// analysis/profile/memory_profile: events to timelines, from hand-made host planes: order, texts, steps, damage.
// XProf's answers for such planes are compared in the golden tests; here stands what XProf does not tell.
#include "analysis/profile/memory_profile.h"

#include "tests/unit/cmocka_all.h"
#include "tests/unit/gzip_bytes.h"
#include "tests/unit/xspace_build.h"

enum {
    ALLOCATION = 1,
    DEALLOCATION = 2,
    TRAIN = 3,
    STAT_ALLOCATOR = 11,
    STAT_HEAP = 12,
    STAT_ADDRESS = 13,
    STAT_SIZE = 14,
    STAT_OP = 15,
    STAT_ROOT = 16,
    STAT_PRODUCER_TYPE = 17,
    STAT_PRODUCER_ID = 18,
    STAT_CONSUMER_TYPE = 19,
    STAT_CONSUMER_ID = 20,
    STAT_RUN = 21,
    STAT_ITERATION = 22,
    STAT_FRAGMENTATION = 23,
    STAT_REGION = 24,
    TRAIN_PART = 4,
    EXECUTOR = 5,
    ITERATOR = 6,
    STAT_NAME_BFC = 5000,  // an id far beyond the others
};

struct fixture {
    struct arena arena;
    struct memory_profile profile;
    struct error error;
    bool ok;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    arena_init(&f->arena, 0);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    memory_profile_free(&f->profile);
    arena_free(&f->arena);
    free(f);
    return 0;
}

static void read_content(struct fixture *f, struct bytes content) {
    struct byte_source *source = byte_source_of_memory(content, "x.xplane.pb", &f->error);
    assert_non_null(source);
    memory_profile_free(&f->profile);
    f->ok = memory_profile_read(source, &f->arena, &f->profile, &f->error);
    byte_source_close(source);
}

// --- Building ---

static void add_stat(struct wire_build *event, uint64_t id, uint32_t field, uint64_t value) {
    struct wire_build stat = {0};
    wire_build_varint(&stat, XSTAT_METADATA_ID, id);
    wire_build_varint(&stat, field, value);
    wire_build_message(event, XEVENT_STATS, &stat);
}

static void add_text(struct wire_build *event, uint64_t id, const char *text) {
    struct wire_build stat = {0};
    wire_build_varint(&stat, XSTAT_METADATA_ID, id);
    wire_build_text(&stat, XSTAT_STR_VALUE, text);
    wire_build_message(event, XEVENT_STATS, &stat);
}

static struct wire_build event_head(uint64_t metadata_id, uint64_t offset_ps, uint64_t duration_ps) {
    struct wire_build event = {0};
    wire_build_varint(&event, XEVENT_METADATA_ID, metadata_id);
    wire_build_varint(&event, XEVENT_OFFSET_PS, offset_ps);
    wire_build_varint(&event, XEVENT_DURATION_PS, duration_ps);
    return event;
}

static void add_memory_event(struct wire_build *line, uint64_t metadata_id, uint64_t offset_ps, uint64_t heap,
                             uint64_t address) {
    struct wire_build event = event_head(metadata_id, offset_ps, 0);
    add_stat(&event, STAT_ALLOCATOR, XSTAT_REF_VALUE, STAT_NAME_BFC);
    add_stat(&event, STAT_HEAP, XSTAT_INT64_VALUE, heap);
    add_stat(&event, STAT_ADDRESS, XSTAT_INT64_VALUE, address);
    add_stat(&event, STAT_SIZE, XSTAT_INT64_VALUE, 100);
    if (metadata_id == ALLOCATION) add_text(&event, STAT_OP, "MatMul");
    wire_build_message(line, XLINE_EVENTS, &event);
}

static struct wire_build line_head(const char *name, uint64_t timestamp_ns) {
    struct wire_build line = {0};
    wire_build_text(&line, XLINE_NAME, name);
    wire_build_varint(&line, XLINE_TIMESTAMP_NS, timestamp_ns);
    return line;
}

static void name_event(struct wire_build *plane, uint64_t id, const char *name) {
    struct wire_build event = {0};
    wire_build_varint(&event, XEVENT_METADATA_ENTRY_ID, id);
    wire_build_text(&event, XEVENT_METADATA_NAME, name);
    xspace_build_event_entry(plane, id, &event);
}

static void add_names(struct wire_build *plane) {
    name_event(plane, ALLOCATION, "MemoryAllocation");
    name_event(plane, DEALLOCATION, "MemoryDeallocation");
    name_event(plane, TRAIN, "train");
    xspace_build_stat_name(plane, STAT_ALLOCATOR, "allocator_name");
    xspace_build_stat_name(plane, STAT_HEAP, "bytes_allocated");
    xspace_build_stat_name(plane, STAT_ADDRESS, "addr");
    xspace_build_stat_name(plane, STAT_SIZE, "allocation_bytes");
    xspace_build_stat_name(plane, STAT_OP, "tf_op");
    xspace_build_stat_name(plane, STAT_ROOT, "_r");
    name_event(plane, TRAIN_PART, "part");
    name_event(plane, EXECUTOR, "ExecutorState::Process");
    name_event(plane, ITERATOR, "IteratorGetNextOp::DoCompute");
    xspace_build_stat_name(plane, STAT_PRODUCER_TYPE, "_pt");
    xspace_build_stat_name(plane, STAT_PRODUCER_ID, "_p");
    xspace_build_stat_name(plane, STAT_CONSUMER_TYPE, "_ct");
    xspace_build_stat_name(plane, STAT_CONSUMER_ID, "_c");
    xspace_build_stat_name(plane, STAT_RUN, "id");
    xspace_build_stat_name(plane, STAT_ITERATION, "iter_num");
    xspace_build_stat_name(plane, STAT_FRAGMENTATION, "fragmentation");
    xspace_build_stat_name(plane, STAT_REGION, "region_type");
    xspace_build_stat_name(plane, STAT_NAME_BFC, "bfc");
}

// Takes the lines.
static struct wire_build space_of(struct wire_build *lines, size_t count, bool names_first) {
    struct wire_build plane = {0}, space = {0};
    wire_build_text(&plane, XPLANE_NAME, "/host:CPU");
    if (names_first) add_names(&plane);
    for (size_t i = 0; i < count; i++) wire_build_message(&plane, XPLANE_LINES, &lines[i]);
    if (!names_first) add_names(&plane);
    wire_build_message(&space, XSPACE_PLANES, &plane);
    return space;
}

// Takes the message.
static void read_space(struct fixture *f, struct wire_build space) {
    read_content(f, wire_build_view(&space));
    if (!f->ok) fail_msg("%s", f->error.message);
    wire_build_free(&space);
}

static const struct memory_timeline *only_timeline(const struct fixture *f) {
    assert_int_equal(f->profile.timeline_count, 1);
    return &f->profile.timelines[0];
}

static struct wire_build two_threads(bool names_first) {
    struct wire_build lines[] = {line_head("late", 5000), line_head("early", 1000)};
    add_memory_event(&lines[0], ALLOCATION, 10, 300, 0x30);
    add_memory_event(&lines[0], DEALLOCATION, 2000000, 200, 0x10);
    add_memory_event(&lines[1], ALLOCATION, 10, 100, 0x10);
    add_memory_event(&lines[1], ALLOCATION, 4500000, 400, 0x40);
    return space_of(lines, 2, names_first);
}

// --- Tests ---

static void lines_are_merged_in_true_time(void **state) {
    static const int64_t times[] = {10, 4000010, 4500000, 6000000}, heaps[] = {100, 300, 400, 200};
    struct fixture *f = *state;
    for (int names_first = 0; names_first < 2; names_first++) {
        read_space(f, two_threads(names_first));
        const struct memory_timeline *timeline = only_timeline(f);
        assert_int_equal(timeline->count, 4);
        assert_false(f->profile.lines_start_together);
        for (uint32_t row = 0; row < 4; row++) {
            assert_int_equal(timeline->time_ps[row], times[row]);
            assert_int_equal(timeline->heap_bytes[row], heaps[row]);
        }
        assert_true(bytes_equal(timeline->memory_id, BYTES("bfc")));
        assert_true(bytes_equal(f->profile.threads[timeline->thread[1]].name, BYTES("late")));
    }
}

static void frees_find_their_allocations(void **state) {
    struct fixture *f = *state;
    read_space(f, two_threads(false));
    const struct memory_timeline *timeline = only_timeline(f);
    assert_int_equal(timeline->partner[0], 3);
    assert_int_equal(timeline->partner[3], 0);
    assert_int_equal(timeline->partner[1], MEMORY_EVENT_NONE);
    assert_true(bytes_equal(memory_timeline_site(&f->profile, timeline, 3)->op, BYTES("MatMul")));
    assert_int_equal(f->profile.sites.count, 2);  // allocations tell their op, frees do not
}

static void a_reused_address_belongs_to_the_newer_allocation(void **state) {
    struct fixture *f = *state;
    struct wire_build line = line_head("t", 0);
    add_memory_event(&line, ALLOCATION, 1, 100, 7);
    add_memory_event(&line, ALLOCATION, 2, 200, 7);
    add_memory_event(&line, DEALLOCATION, 3, 100, 7);
    read_space(f, space_of(&line, 1, false));
    const struct memory_timeline *timeline = only_timeline(f);
    assert_int_equal(timeline->reused_address_count, 1);
    assert_int_equal(timeline->partner[0], MEMORY_EVENT_NONE);
    assert_int_equal(timeline->partner[2], 1);
}

static void roots_make_steps_with_names(void **state) {
    struct fixture *f = *state;
    struct wire_build line = line_head("t", 3);
    for (uint64_t i = 0; i < 2; i++) {
        struct wire_build root = event_head(TRAIN, 100 + 1000 * i, 500);
        add_stat(&root, STAT_ROOT, XSTAT_INT64_VALUE, 1);
        wire_build_message(&line, XLINE_EVENTS, &root);
        add_memory_event(&line, ALLOCATION, 200 + 1000 * i, 100, i);
    }
    add_memory_event(&line, ALLOCATION, 5000, 100, 9);
    read_space(f, space_of(&line, 1, false));
    const struct memory_timeline *timeline = only_timeline(f);
    assert_int_equal(f->profile.step_count, 2);
    assert_true(bytes_equal(f->profile.steps[1].name, BYTES("train 1")));
    assert_int_equal(f->profile.steps[1].begin_ps, 1100);
    assert_int_equal(f->profile.steps[1].end_ps, 1600);
    assert_int_equal(timeline->step[0], 0);
    assert_int_equal(timeline->step[1], 1);
    assert_int_equal(timeline->step[2], 2);
    assert_true(timeline->flags[2] & MEMORY_EVENT_STEP_IS_COMPLETED);
    assert_false(timeline->flags[1] & MEMORY_EVENT_STEP_IS_COMPLETED);
}

static void add_root(struct wire_build *line, uint64_t offset_ps, uint64_t duration_ps, uint64_t stat, uint64_t id) {
    struct wire_build root = event_head(TRAIN, offset_ps, duration_ps);
    add_stat(&root, STAT_ROOT, XSTAT_INT64_VALUE, 1);
    add_stat(&root, stat == STAT_PRODUCER_ID ? STAT_PRODUCER_TYPE : STAT_CONSUMER_TYPE, XSTAT_INT64_VALUE, 3);
    add_stat(&root, stat, XSTAT_INT64_VALUE, id);
    wire_build_message(line, XLINE_EVENTS, &root);
}

static void a_root_that_a_later_one_leads_to_is_no_step(void **state) {
    struct fixture *f = *state;
    struct wire_build lines[] = {line_head("leads", 3), line_head("is led to", 3)};
    add_root(&lines[0], 200, 500, STAT_PRODUCER_ID, 7);
    add_memory_event(&lines[0], ALLOCATION, 300, 100, 1);
    add_root(&lines[1], 100, 50, STAT_CONSUMER_ID, 7);
    add_memory_event(&lines[1], ALLOCATION, 110, 200, 2);
    read_space(f, space_of(lines, 2, false));
    const struct memory_timeline *timeline = only_timeline(f);
    assert_int_equal(f->profile.step_count, 1);
    assert_int_equal(f->profile.steps[0].begin_ps, 200);
    assert_int_equal(timeline->step[0], 0);
    assert_int_equal(timeline->step[1], 0);
}

// --- Events that are laid out differently ---

enum { LAYOUTS = 7 };

static void add_fragmentation(struct wire_build *event, double value) {
    struct wire_build stat = {0};
    wire_build_varint(&stat, XSTAT_METADATA_ID, STAT_FRAGMENTATION);
    wire_build_double(&stat, XSTAT_DOUBLE_VALUE, value);
    wire_build_message(event, XEVENT_STATS, &stat);
}

static void add_laid_out(struct wire_build *line, unsigned layout, uint64_t number) {
    struct wire_build event = event_head(ALLOCATION, number, 0);
    if (layout != 1) add_stat(&event, STAT_HEAP, layout == 2 ? XSTAT_UINT64_VALUE : XSTAT_INT64_VALUE, 100 + number);
    if (layout == 3) add_stat(&event, STAT_FRAGMENTATION, XSTAT_INT64_VALUE, 1);
    if (layout != 3) add_fragmentation(&event, 0.25);
    add_stat(&event, STAT_SIZE, XSTAT_INT64_VALUE, UINT64_C(1) << (number % 64));
    if (layout == 4) add_stat(&event, STAT_HEAP, XSTAT_INT64_VALUE, 7);
    add_stat(&event, STAT_REGION, XSTAT_REF_VALUE, layout == 5 ? STAT_OP : STAT_NAME_BFC);
    if (layout == 6) add_text(&event, STAT_OP, "MatMul");
    wire_build_message(line, XLINE_EVENTS, &event);
}

// What a layout tells, whatever came before it.
static void check_laid_out(const struct fixture *f, const struct memory_timeline *t, unsigned layout, uint32_t row) {
    static const char *const regions[LAYOUTS] = {"bfc", "bfc", "bfc", "bfc", "bfc", "tf_op", "bfc"};
    int64_t heap = layout == 1 || layout == 2 ? 0 : layout == 4 ? 7 : 100 + (int64_t)row;
    const struct allocation_site *site = memory_timeline_site(&f->profile, t, row);
    assert_int_equal(t->heap_bytes[row], heap);
    assert_int_equal(!(t->flags[row] & MEMORY_EVENT_HAS_STATE), layout == 1);
    assert_int_equal(!(t->flags[row] & MEMORY_EVENT_INTEGER_FRAGMENTATION), layout != 3);
    assert_true(t->fragmentation[row] == (layout == 3 ? 1 : 0.25));
    assert_true(site->allocated_bytes == (int64_t)(UINT64_C(1) << (row % 64)));
    assert_true(bytes_equal(site->region_type, bytes_of(regions[layout])));
    assert_true(bytes_equal(site->op, bytes_of(layout == 6 ? "MatMul" : "")));
}

static void an_event_is_read_alike_after_any_other(void **state) {
    struct fixture *f = *state;
    struct wire_build line = line_head("t", 0);
    unsigned order[2 * LAYOUTS * LAYOUTS];
    uint32_t count = 0;
    for (unsigned before = 0; before < LAYOUTS; before++) {
        for (unsigned after = 0; after < LAYOUTS; after++) {
            order[count++] = before;
            order[count++] = after;
        }
    }
    for (uint32_t i = 0; i < count; i++) add_laid_out(&line, order[i], i);
    read_space(f, space_of(&line, 1, false));
    const struct memory_timeline *timeline = only_timeline(f);
    assert_int_equal(timeline->count, count);
    for (uint32_t row = 0; row < count; row++) check_laid_out(f, timeline, order[row], row);
}

// A varint may be written longer than it has to be, and fields may stand in any order: the careful way reads them.
static void odd_spellings_say_the_same(void **state) {
    struct fixture *f = *state;
    static const uint8_t padded_heap[] = {0x20, 0xc8, 0x81, 0x80, 0x80, 0x80,     0x80,
                                          0x80, 0x80, 0x80, 0x00, 0x08, STAT_HEAP};
    struct wire_build line = line_head("t", 0), event = event_head(ALLOCATION, 5, 0);
    wire_build_bytes(&event, XEVENT_STATS, (struct bytes){padded_heap, sizeof padded_heap});
    wire_build_message(&line, XLINE_EVENTS, &event);
    read_space(f, space_of(&line, 1, false));
    const struct memory_timeline *timeline = only_timeline(f);
    assert_int_equal(timeline->heap_bytes[0], 200);
    assert_int_equal(timeline->memory_id.size, 0);
}

static void an_event_as_long_as_no_event_is_left_out(void **state) {
    struct fixture *f = *state;
    struct wire_build line = line_head("t", 0), event = event_head(ALLOCATION, 5, 0);
    char *text = malloc((1 << 20) + 1);
    memset(text, 'x', 1 << 20);
    text[1 << 20] = 0;
    add_text(&event, STAT_OP, text);
    wire_build_message(&line, XLINE_EVENTS, &event);
    add_memory_event(&line, ALLOCATION, 10, 100, 1);
    read_space(f, space_of(&line, 1, false));
    assert_int_equal(f->profile.left_out_count, 1);
    assert_int_equal(only_timeline(f)->count, 1);
    free(text);
}

static void times_end_where_numbers_end(void **state) {
    struct fixture *f = *state;
    struct wire_build lines[] = {line_head("a", 0), line_head("b", INT64_MAX)};
    add_memory_event(&lines[0], ALLOCATION, INT64_MAX, 1, 1);
    add_memory_event(&lines[1], ALLOCATION, INT64_MAX, 2, 2);
    read_space(f, space_of(lines, 2, false));
    const struct memory_timeline *timeline = only_timeline(f);
    assert_int_equal(timeline->time_ps[0], INT64_MAX);
    assert_int_equal(timeline->time_ps[1], INT64_MAX);
}

static void nothing_is_a_profile_of_nothing(void **state) {
    struct fixture *f = *state;
    read_content(f, (struct bytes){0});
    assert_true(f->ok);
    assert_false(f->profile.has_host_plane);
    assert_int_equal(f->profile.timeline_count, 0);
    assert_int_equal(f->profile.fault.code, ERROR_NONE);
}

// Cut anywhere, a file gives the events that are whole, in order, and says that it was cut.
static void a_cut_file_keeps_what_is_whole(void **state) {
    struct fixture *f = *state;
    struct wire_build space = two_threads(true);
    struct bytes whole = wire_build_view(&space);
    uint64_t most = 0;
    for (size_t size = 1; size < whole.size; size++) {
        uint8_t *copy = malloc(size);  // so that a sanitizer sees a read beyond
        memcpy(copy, whole.data, size);
        read_content(f, (struct bytes){copy, size});
        free(copy);
        const struct error *error = f->ok ? &f->profile.fault : &f->error;
        assert_int_not_equal(error->code, ERROR_NONE);
        assert_true(error->message[0] && error->file[0]);
        if (!f->ok) continue;
        assert_true(f->profile.event_count <= 4 && f->profile.event_count >= most);
        most = f->profile.event_count;
    }
    assert_true(most >= 3);
    wire_build_free(&space);
}

// --- Two threads ---

enum { MANY_EVENTS = 240000, LONG_LINES = 4 };

static void add_span(struct wire_build *line, uint64_t offset_ps, uint64_t stat_a, uint64_t a, uint64_t stat_b,
                     uint64_t b, uint64_t metadata_id) {
    struct wire_build event = event_head(metadata_id, offset_ps, 90);
    add_stat(&event, stat_a, XSTAT_INT64_VALUE, a);
    add_stat(&event, stat_b, XSTAT_INT64_VALUE, b);
    wire_build_message(line, XLINE_EVENTS, &event);
}

// Long enough for two threads, and something for each table that is joined after them: roots, one context with
// consumers in both halves, an executor for each half and an iterator, equal peaks, an event that is no message,
// addresses that travel from line to line.
static struct wire_build long_space(void) {
    struct wire_build lines[LONG_LINES];
    for (uint64_t i = 0; i < LONG_LINES; i++) lines[i] = line_head(i % 2 ? "odd" : "even", i == 3 ? 7 : 1);
    for (uint64_t n = 0; n < MANY_EVENTS; n++) {
        struct wire_build *line = &lines[n * 2654435761u % 7 % LONG_LINES];
        if (n % 1000 == 0) {
            struct wire_build root = event_head(TRAIN, n * 100, 60000);
            add_stat(&root, STAT_ROOT, XSTAT_INT64_VALUE, 1);
            wire_build_message(line, XLINE_EVENTS, &root);
        }
        if (n % 5000 == 1) add_span(line, n * 100, STAT_CONSUMER_TYPE, 3, STAT_CONSUMER_ID, 7, TRAIN_PART);
        if (n == 0) add_span(line, n * 100, STAT_PRODUCER_TYPE, 3, STAT_PRODUCER_ID, 7, TRAIN_PART);
        if (n % 40000 == 30) add_span(line, n * 100, STAT_RUN, 9, STAT_ITERATION, 0, EXECUTOR);
        if (n % 40000 == 50) add_span(line, n * 100, STAT_RUN, 9, STAT_ITERATION, 0, ITERATOR);
        if (n % 50000 == 70) wire_build_bytes(line, XLINE_EVENTS, BYTES("\xff\xff"));
        uint64_t heap = n % 60000 == 99 ? 1000000 : n;
        add_memory_event(line, n % 3 ? ALLOCATION : DEALLOCATION, n * 100 + 1, heap, n / 3 % 500);
    }
    return space_of(lines, LONG_LINES, false);
}

static void check_same_rows(const struct memory_profile *a, const struct memory_profile *b) {
    const struct memory_timeline *x = &a->timelines[0], *y = &b->timelines[0];
    assert_int_equal(x->count, y->count);
    assert_memory_equal(x->time_ps, y->time_ps, x->count * sizeof *x->time_ps);
    assert_memory_equal(x->heap_bytes, y->heap_bytes, x->count * sizeof *x->heap_bytes);
    assert_memory_equal(x->address, y->address, x->count * sizeof *x->address);
    assert_memory_equal(x->step, y->step, x->count * sizeof *x->step);
    assert_memory_equal(x->site, y->site, x->count * sizeof *x->site);
    assert_memory_equal(x->partner, y->partner, x->count * sizeof *x->partner);
    assert_memory_equal(x->thread, y->thread, x->count * sizeof *x->thread);
    assert_memory_equal(x->flags, y->flags, x->count * sizeof *x->flags);
    assert_memory_equal(&x->file_order, &y->file_order, sizeof x->file_order);
}

// A .gz is read by one thread, its content alone by two: both must tell the same.
static void two_threads_read_what_one_reads(void **state) {
    struct fixture *f = *state, *g;
    assert_int_equal(set_up((void **)&g), 0);
    struct wire_build space = long_space();
    struct bytes content = wire_build_view(&space);
    assert_true(content.size > 8 << 20);
    struct bytes zipped = gzip_bytes(content);
    read_content(f, content);
    read_content(g, zipped);
    assert_true(f->ok && g->ok);
    assert_int_equal(f->profile.event_count, MANY_EVENTS);
    assert_true(f->profile.step_count > 100 && f->profile.step_count == g->profile.step_count);
    assert_int_equal(f->profile.sites.count, g->profile.sites.count);
    assert_int_equal(f->profile.left_out_count, g->profile.left_out_count);
    assert_true(f->profile.left_out_count > 1);
    check_same_rows(&f->profile, &g->profile);
    for (uint32_t i = 0; i < LONG_LINES; i++)
        assert_true(bytes_equal(f->profile.threads[i].name, g->profile.threads[i].name));
    gzip_bytes_free(zipped);
    wire_build_free(&space);
    (void)tear_down((void **)&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_are_merged_in_true_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(frees_find_their_allocations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_reused_address_belongs_to_the_newer_allocation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(roots_make_steps_with_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_event_is_read_alike_after_any_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_root_that_a_later_one_leads_to_is_no_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(odd_spellings_say_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_event_as_long_as_no_event_is_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(times_end_where_numbers_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_a_profile_of_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cut_file_keeps_what_is_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_threads_read_what_one_reads, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
