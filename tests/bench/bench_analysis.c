// How long does the analysis of one program take, measured against a bare wire walk of the same bytes?
//
//     bench_analysis FILE [REPEATS]        FILE: *.xplane.pb or *.hlo_proto.pb, also .gz; its largest program is taken
//
// Every repeat runs all stages, one after the other, on fresh arenas whose pages the system must hand out anew, as when
// a program is opened for the first time; printed are medians. The program's bytes are in memory when the clock starts.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/hlo/hlo_load.h"
#include "analysis/input/input_name.h"
#include "analysis/input/local_storage.h"
#include "analysis/input/xspace_read.h"
#include "analysis/memory/memory_summary.h"
#include "analysis/memory/memory_view.h"
#include "server/xprof/xprof_memory_viewer.h"
#include "tests/bench/wire_walk.h"

enum { DEFAULT_REPEATS = 31, MOST_REPEATS = 10000, HBM = 0, BLOB_LIMIT_BYTES = 1 << 30 };

enum stage { WALK, LOAD, VIEW, SUMMARIES, XPROF_VIEW, XPROF_JSON, STAGE_COUNT };

static const char *const stage_names[STAGE_COUNT] = {
    "bare wire walk", "  load the module", "  build the view", "  summaries", "  XProf's view", "  XProf's JSON",
};

struct figures {  // one column for each stage, one row for each repeat
    double *ms[STAGE_COUNT];
    int count;
};

struct program {
    struct arena arena;
    struct bytes blob;
    const char *name;
};

struct run {
    struct arena module_arena, view_arena;
    struct hlo_module module;
    struct memory_view view, xprof_view;
    struct output reply;
};

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

// --- Input ---

static struct input_name name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return input_name_parse(bytes_of(slash ? slash + 1 : path));
}

static bool load_largest(struct byte_source *source, bool is_xplane, struct program *program, struct error *error) {
    struct xspace_index index = {0};
    bool is_good = is_xplane ? xspace_index_read(source, &program->arena, &index, error)
                             : xspace_index_hlo_file(source, &program->arena, &index, error);
    if (!is_good) return false;
    const struct xspace_program *largest = NULL;
    for (size_t i = 0; i < index.program_count; i++) {
        if (!largest || index.programs[i].size_bytes > largest->size_bytes) largest = &index.programs[i];
    }
    if (!largest) return error_set(error, ERROR_NOT_FOUND, "no program in this file");
    program->name = arena_string(&program->arena, largest->name);
    return byte_source_load(source, largest->offset, largest->size_bytes, BLOB_LIMIT_BYTES, &program->arena,
                            &program->blob, error);
}

static bool open_program(const char *path, struct program *program, struct error *error) {
    arena_init(&program->arena, 0);
    struct byte_source *source = byte_source_open(local_storage(), path, error);
    if (!source) return false;
    bool is_good = load_largest(source, name_of(path).kind == INPUT_NAME_XPLANE, program, error);
    byte_source_close(source);
    return is_good;
}

// --- Stages ---

static bool do_walk(struct run *run, struct bytes blob, struct error *error) {
    (void)run;
    return !wire_walk_hlo_proto(blob).is_damaged || error_set(error, ERROR_MALFORMED, "the walk found damage");
}

static bool do_load(struct run *run, struct bytes blob, struct error *error) {
    return hlo_module_load(blob, &run->module_arena, &run->module, error);
}

static bool do_view(struct run *run, struct bytes blob, struct error *error) {
    (void)blob;
    return memory_view_build(&run->module, HBM, MEMORY_VIEW_EXACT, &run->view_arena, &run->view, error);
}

static bool do_summaries(struct run *run, struct bytes blob, struct error *error) {
    (void)blob;
    struct memory_summary_list summaries;
    return memory_summaries(&run->module, &run->view_arena, &summaries, error);
}

static bool do_xprof_view(struct run *run, struct bytes blob, struct error *error) {
    (void)blob;
    return memory_view_build(&run->module, HBM, MEMORY_VIEW_AS_XPROF, &run->view_arena, &run->xprof_view, error);
}

static bool do_xprof_json(struct run *run, struct bytes blob, struct error *error) {
    (void)blob;
    struct json_writer w = json_writer_on(&run->reply);
    return xprof_memory_viewer_write(&run->xprof_view, (struct scoped_vmem){0}, &run->view_arena, &w, error);
}

typedef bool stage_function(struct run *run, struct bytes blob, struct error *error);
static stage_function *const stage_functions[STAGE_COUNT] = {
    do_walk, do_load, do_view, do_summaries, do_xprof_view, do_xprof_json,
};

static bool run_stages(struct run *run, struct bytes blob, struct figures *figures, struct error *error) {
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        double start = now_ms();
        if (!stage_functions[stage](run, blob, error)) return false;
        figures->ms[stage][figures->count] = now_ms() - start;
    }
    figures->count++;
    return true;
}

static bool run_once(struct bytes blob, struct figures *figures, struct error *error) {
    struct run run = {0};
    arena_init(&run.module_arena, 0);
    arena_init(&run.view_arena, 0);
    output_init(&run.reply, OUTPUT_LIMIT_BYTES);
    bool is_good = run_stages(&run, blob, figures, error);
    output_free(&run.reply);
    arena_free(&run.view_arena);
    arena_free(&run.module_arena);
    return is_good;
}

// --- Table ---

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

// The median over the repeats of the sum of stages first..last: all of one repeat are summed before the median.
static double median_of_sum(const struct figures *figures, enum stage first, enum stage last) {
    double sums[MOST_REPEATS];
    for (int i = 0; i < figures->count; i++) {
        sums[i] = 0;
        for (enum stage stage = first; stage <= last; stage++) sums[i] += figures->ms[stage][i];
    }
    return median(sums, figures->count);
}

static void print_row(const char *name, double ms, double walk_ms) {
    printf("%-32s %10.2f %9.2f\n", name, ms, ms / walk_ms);
}

static void print_table(const struct program *program, const struct figures *figures) {
    double walk_ms = median_of_sum(figures, WALK, WALK);
    printf("%s: %zu bytes, %llu fields, medians of %d\n", program->name, program->blob.size,
           (unsigned long long)wire_walk_hlo_proto(program->blob).field_count, figures->count);
    printf("%-32s %10s %9s\n", "", "ms", "x walk");
    for (enum stage stage = WALK; stage < STAGE_COUNT; stage++) {
        print_row(stage_names[stage], median_of_sum(figures, stage, stage), walk_ms);
        if (stage == SUMMARIES) print_row("whole cold analysis", median_of_sum(figures, LOAD, SUMMARIES), walk_ms);
    }
    print_row("cold analysis and XProf's reply", median_of_sum(figures, LOAD, XPROF_JSON), walk_ms);
}

static int fail(const char *path, const struct error *error) {
    fprintf(stderr, "bench_analysis: %s: %s\n", path, error->message);
    return 3;
}

int main(int argc, char **argv) {
    long repeats = argc == 3 ? strtol(argv[2], NULL, 10) : DEFAULT_REPEATS;
    if (argc < 2 || argc > 3 || repeats < 1 || repeats > MOST_REPEATS) {
        fprintf(stderr, "usage: bench_analysis FILE [REPEATS]\n");
        return 2;
    }
    mallopt(M_MMAP_THRESHOLD, 128 << 10);  // a fixed one: freed blocks go back to the system, not to the next repeat
    struct error error;
    struct program program = {0};
    if (!open_program(argv[1], &program, &error)) return fail(argv[1], &error);
    struct figures figures = {.count = 0};
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        figures.ms[stage] = arena_new(&program.arena, double, (size_t)repeats);
        if (!figures.ms[stage]) return 3;
    }
    for (long i = 0; i < repeats; i++) {
        if (!run_once(program.blob, &figures, &error)) return fail(argv[1], &error);
    }
    print_table(&program, &figures);
    arena_free(&program.arena);
    return 0;
}
