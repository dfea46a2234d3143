// Packing the programs as they are gives the compiler's own figure. PACKING_ROOT=FOLDER prints it for the programs of a
// log directory instead (make bench-packing), and holds them to the same.
#include "analysis/advice/temporaries.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/memory/trace_choice.h"
#include "tests/unit/fixture_programs.h"
#include "tests/unit/hlo_build.h"

#define MOST_OFF 0.01                                     // of the compiler's
enum { MOST_OFF_BYTES = 2 * TEMPORARIES_ALIGNMENT_MAX };  // of programs so small that the alignment counts

struct seen {
    uint32_t programs;
    const char *root;
};

static int64_t packed_again(const struct temporaries *t, const struct hlo_module *module,
                            const struct heap_replay *replay, struct arena *arena) {
    struct error error;
    int64_t bytes;
    if (!temporaries_predict(t, module, replay, arena, &bytes, &error)) fail_msg("%s", error.message);
    return bytes;
}

static void print_program(const struct input_file *file, const struct hlo_module *module, const struct temporaries *t) {
    int64_t found = t->packed_bytes + t->untraced_bytes;
    const char *folder = strstr(file->path, "/profile/");
    double off = t->total_bytes ? 100 * (double)(found - t->total_bytes) / (double)t->total_bytes : 0;
    printf("| %.*s | %s | %s | %lld | %lld | %+.3f |\n", (int)module->name.size, (const char *)module->name.data,
           folder ? folder + strlen("/profile/") : file->path, t->is_in_program_order ? "program" : "least",
           (long long)t->total_bytes, (long long)found, off);
}

static void expect_the_compilers_figure(const struct temporaries *t, const char *path) {
    int64_t off = t->packed_bytes + t->untraced_bytes - t->total_bytes;
    if (off < 0) off = -off;
    if (off > MOST_OFF_BYTES && (double)off > MOST_OFF * (double)t->total_bytes)
        fail_msg("%s: packed %lld + %lld for %lld", path, (long long)t->packed_bytes, (long long)t->untraced_bytes,
                 (long long)t->total_bytes);
}

static void check_program(const struct input_file *file, const struct xspace_program *program,
                          struct byte_source *source, void *context) {
    struct seen *seen = context;
    struct arena arena;
    struct error error;
    struct hlo_module module;
    struct heap_events events;
    struct heap_replay replay;
    struct temporaries t;
    arena_init(&arena, 0);
    if (!program_load(file, program, source, &arena, &module, &error)) fail_msg("%s", error.message);
    if (trace_choose_exact(&module, 0, &arena, &events, &error) && events.count) {
        assert_true(heap_replay_run(&module, events, NULL, &arena, &replay, &error));
        assert_true(temporaries_init(&t, &module, events, &replay, &arena, &error));
        if (seen->root) print_program(file, &module, &t);
        expect_the_compilers_figure(&t, file->path);
        assert_int_equal(packed_again(&t, &module, &replay, &arena), t.total_bytes);
        seen->programs++;
    }
    arena_free(&arena);
}

static void programs_are_packed_as_the_compiler_did(void **state) {
    (void)state;
    struct seen seen = {.root = getenv("PACKING_ROOT")};
    if (seen.root) {
        printf("| program | file | order | compiled bytes | packed bytes | error %% |\n|---|---|---|---|---|---|\n");
        fixture_programs_visit(seen.root, check_program, &seen);
    } else {
        fixture_programs_visit("tests/fixtures/logdir", check_program, &seen);
        fixture_programs_visit("tests/fixtures/advice", check_program, &seen);
    }
    assert_true(seen.programs > 0);
}

// --- Programs of a few buffers ---

#define KIB_16 ((int64_t)1 << 14)

// A heap of 16 KiB, of two buffers one after the other, below 32 KiB that no trace tells of, used by two buffers.
struct fixture {
    struct hlo_build build;
    struct arena arena;
    struct hlo_module module;
    struct heap_replay replay;
    struct temporaries temporaries;
    struct error error;
};

static void start(struct fixture *f) {
    *f = (struct fixture){0};
    arena_init(&f->arena, 0);
    hlo_build_instruction(&f->build, 1, "op", 1);
    hlo_build_buffer(&f->build, 1, 1, KIB_16, 0);
    hlo_build_buffer(&f->build, 2, 1, KIB_16, 0);
    hlo_build_buffer(&f->build, 3, 1, 2 * KIB_16, 0);
    hlo_build_buffer(&f->build, 4, 1, KIB_16, 0);
    hlo_build_allocation(
        &f->build,
        (struct hlo_build_allocation){.size = 3 * KIB_16, .buffers = {1, 2, 3, 4}, .offsets = {0, 0, KIB_16, KIB_16}});
    hlo_build_event(&f->build, HLO_EVENT_ALLOC, 1, 0);
    hlo_build_event(&f->build, HLO_EVENT_FREE, 1, 0);
    hlo_build_event(&f->build, HLO_EVENT_ALLOC, 2, 0);
    hlo_build_event(&f->build, HLO_EVENT_FREE, 2, 0);
    hlo_build_end_trace(&f->build);
    assert_true(hlo_module_load(hlo_build_finish(&f->build), &f->arena, &f->module, &f->error));
}

static struct heap_events events_of(const struct fixture *f) {
    return (struct heap_events){f->module.events, f->module.event_count};
}

static int64_t replayed(struct fixture *f) {
    assert_true(heap_replay_run(&f->module, events_of(f), NULL, &f->arena, &f->replay, &f->error));
    return packed_again(&f->temporaries, &f->module, &f->replay, &f->arena);
}

static void start_packed(struct fixture *f) {
    start(f);
    assert_true(heap_replay_run(&f->module, events_of(f), NULL, &f->arena, &f->replay, &f->error));
    assert_true(temporaries_init(&f->temporaries, &f->module, events_of(f), &f->replay, &f->arena, &f->error));
}

static void done(struct fixture *f) {
    arena_free(&f->arena);
    hlo_build_free(&f->build);
}

static void what_no_trace_tells_of_has_the_size_of_the_largest_there(void **state) {
    (void)state;
    struct fixture f;
    start_packed(&f);
    assert_int_equal(f.temporaries.untraced_bytes, 2 * KIB_16);
    assert_int_equal(replayed(&f), 3 * KIB_16);
    f.module.buffers[2].size_bytes = 0;
    assert_int_equal(replayed(&f), 2 * KIB_16);
    f.module.buffers[3].size_bytes = 0;
    assert_int_equal(replayed(&f), KIB_16);
    done(&f);
}

// Today's allocation is 48 times the heap's peak, which says nothing of what a larger heap takes.
static void a_heap_near_zero_explodes_nothing(void **state) {
    (void)state;
    struct fixture f;
    start(&f);
    f.module.buffers[0].size_bytes = f.module.buffers[1].size_bytes = 1024;
    assert_true(heap_replay_run(&f.module, events_of(&f), NULL, &f.arena, &f.replay, &f.error));
    assert_true(temporaries_init(&f.temporaries, &f.module, events_of(&f), &f.replay, &f.arena, &f.error));
    f.module.buffers[0].size_bytes = 1 << 20;
    assert_int_equal(replayed(&f), 3 * KIB_16 + (1 << 20) - 1024);
    f.module.buffers[0].size_bytes = f.module.buffers[1].size_bytes = 0;
    assert_int_equal(replayed(&f), 3 * KIB_16 - 1024);
    done(&f);
}

static void less_than_the_peak_is_never_told(void **state) {
    (void)state;
    struct fixture f;
    start_packed(&f);
    f.temporaries.total_bytes = KIB_16;  // as where the compiler lets buffers share what the trace holds apart
    f.module.buffers[2].size_bytes = f.module.buffers[3].size_bytes = 0;
    assert_int_equal(replayed(&f), KIB_16);
    done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_are_packed_as_the_compiler_did),
        cmocka_unit_test(what_no_trace_tells_of_has_the_size_of_the_largest_there),
        cmocka_unit_test(a_heap_near_zero_explodes_nothing),
        cmocka_unit_test(less_than_the_peak_is_never_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
