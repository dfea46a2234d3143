// Out-of-memory messages in logs: whole, wrapped, prefixed, coloured, repeated, cut anywhere, in 10 MB of noise.
#include "analysis/oom/line_prefix.h"
#include "analysis/oom/oom_cursor.h"
#include "tests/unit/oom_samples.h"

static const char noise[] = "2026-01-02 03:04:05,678 INFO train.py:88: step 1274 loss 2.31 (12.5G/s, 3 free workers)\n";

// --- Making logs ---

struct text {
    uint8_t *data;
    size_t size;
};

static struct text text_new(struct arena *arena, size_t capacity) {
    return (struct text){arena_push(arena, capacity, 1), 0};
}

static void put(struct text *to, struct bytes bytes) {
    memcpy(to->data + to->size, bytes.data, bytes.size);
    to->size += bytes.size;
}

static struct bytes bytes_of_text(struct text text) {
    return (struct bytes){text.data, text.size};
}

static struct bytes cut_with_noise(struct bytes sample, size_t size, struct arena *arena) {
    struct text log = text_new(arena, size + 3 * sizeof noise);
    put(&log, BYTES(noise));
    put(&log, (struct bytes){sample.data, size});
    put(&log, BYTES("\n"));
    put(&log, BYTES(noise));
    return bytes_of_text(log);
}

// Every line broken after `width` bytes, what follows indented.
static struct bytes wrapped(struct bytes sample, size_t width, const char *indent, struct arena *arena) {
    struct text log = text_new(arena, sample.size * (strlen(indent) + 2) + 1);
    size_t column = 0;
    for (size_t i = 0; i < sample.size; i++) {
        if (sample.data[i] == '\n') column = 0;
        if (column == width) {
            put(&log, BYTES("\n"));
            put(&log, bytes_of(indent));
            column = 0;
        }
        put(&log, (struct bytes){sample.data + i, 1});
        if (sample.data[i] != '\n') column++;
    }
    return bytes_of_text(log);
}

// `before` and `after` around each line.
static struct bytes dressed(struct bytes sample, const char *before, const char *after, struct arena *arena) {
    struct text log = text_new(arena, sample.size * 128);
    for (size_t i = 0; i < sample.size; i++) {
        bool is_start = i == 0 || sample.data[i - 1] == '\n', is_end = sample.data[i] == '\n';
        if (is_start) put(&log, bytes_of(before));
        if (is_end) put(&log, bytes_of(after));
        put(&log, (struct bytes){sample.data + i, 1});
    }
    return bytes_of_text(log);
}

static void expect_whole(struct bytes log, const struct oom_message *whole, int64_t count, const char *how,
                         int number) {
    struct arena arena;
    arena_init(&arena, 0);
    struct oom_log found = log_read(log, &arena);
    // Where the last figure of the allocator's is broken, it is not known.
    bool is_open = found.message_count == 1 && oom_message_row(&found.messages[0], "LargestFreeBlock") == OOM_ABSENT;
    if (is_open && found.messages[0].row_count)
        oom_message_add(&found.messages[0], "LargestFreeBlock", oom_message_row(whole, "LargestFreeBlock"));
    bool is_good = found.message_count == 1 && message_is_same(&found.messages[0], whole) &&
                   found.messages[0].count == count;
    if (!is_good) {
        print_message("%s %d: %zu messages\n%.*s\n", how, number, found.message_count, (int)(log.size % 3000),
                      log.data);
        fail();
    }
    arena_free(&arena);
}

// --- Tests ---

static void test_figures(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    struct oom_message used = sample_message("tpu_hbm_used", &arena);
    assert_int_equal(used.needed_bytes, 23063974380);  // round(21.48 * 2^30)
    assert_int_equal(used.capacity_bytes, 16621523436);
    assert_int_equal(used.exceeded_bytes, (int64_t)6 << 30);
    assert_int_equal(oom_message_row(&used, "reserved"), (int64_t)530 << 20);
    assert_int_equal(oom_message_row(&used, "scoped"), 0);
    assert_int_equal(oom_message_row(&used, "global"), 260 << 10);
    assert_int_equal(oom_message_row(&used, "HLO temp fragmentation"), 2834678415);
    assert_int_equal(oom_message_row(&used, "shares with arguments"), 1310720);
    assert_int_equal(used.entry_count, 3);
    assert_string_equal(used.entries[0].source, "/home/u/model/block.py:217");
    assert_string_equal(used.entries[0].shape, "bf16[24,2049,16384]{2,1,0:T(8,128)(2,1)}");
    assert_string_equal(used.entries[0].label, "fusion.4187 = fusion(copy-done.12, fusion.902), kind=kOutput, "
                                               "calls=fused_computation.3311");
    assert_int_equal(used.entries[0].padding_bytes, 5368709);
    assert_string_equal(used.entries[2].allocation_type, "global");
    assert_null(used.entries[2].op_name);
    struct oom_message real = sample_message("v5e_gpt_12layer_oom", &arena);
    assert_int_equal(real.needed_bytes, 56833154744);
    assert_int_equal(real.capacity_bytes, 16911433728);
    assert_int_equal(real.exceeded_bytes, OOM_ABSENT);
    assert_string_equal(real.module, "jit_train_step");
    assert_string_equal(real.error_code, "E1000");
    arena_free(&arena);
}

static void test_runtime_and_gpu_figures(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    struct oom_message load = sample_message("tpu_program_load_fragmented", &arena);
    assert_int_equal(load.kind, OOM_PROGRAM_LOAD);
    assert_string_equal(load.module, "jit_prefill(8812)");
    assert_int_equal(load.reservable_bytes, 1406601789);
    assert_int_equal(oom_message_row(&load, "reserved"), 16 << 10);
    struct oom_message gpu = sample_message("gpu_out_of_memory", &arena);
    assert_int_equal(gpu.requested_bytes, 36507222016);
    assert_int_equal(oom_message_row(&gpu, "constant allocation"), 196);
    assert_string_equal(gpu.entries[1].shape, "f32[50304,8004]");
    assert_true(gpu.entries[1].is_entry_parameter);
    struct oom_message step = sample_message("h200_step_oom", &arena);
    assert_int_equal(step.kind, OOM_GPU_ALLOCATION);
    assert_string_equal(step.module, "jit_train_step");
    assert_string_equal(step.allocator, "GPU_0_bfc");
    struct oom_message bfc = sample_message("gpu_allocator", &arena);
    assert_int_equal(bfc.capacity_bytes, 15728640000);
    assert_int_equal(bfc.requested_bytes, 2516582400);
    assert_int_equal(oom_message_row(&bfc, "LargestFreeBlock"), 805306368);
    struct oom_message scoped = sample_message("tpu_vmem_scoped", &arena);
    assert_string_equal(scoped.memory_space, "vmem");
    assert_null(scoped.error_code);
    assert_int_equal(scoped.capacity_bytes, 16 << 20);
    arena_free(&arena);
}

// Bare digits that a line's end follows are whole for all that a reader can tell.
static bool ends_in_last_figure(struct bytes sample, size_t size) {
    static const char name[] = "LargestFreeBlock:";
    while (size && (sample.data[size - 1] == ' ' || (sample.data[size - 1] >= '0' && sample.data[size - 1] <= '9')))
        size--;
    return bytes_ends_with((struct bytes){sample.data, size}, BYTES(name));
}

static void test_cut_anywhere(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        struct arena arena, scratch;
        arena_init(&arena, 0);
        struct bytes sample = sample_read(sample_names[i], &arena);
        struct oom_message whole = sample_message(sample_names[i], &arena);
        for (size_t size = 0; size < sample.size; size++) {
            arena_init(&scratch, 0);
            struct oom_log cut = log_read((struct bytes){sample.data, size}, &scratch);
            struct oom_log noisy = log_read(cut_with_noise(sample, size, &scratch), &scratch);
            bool is_good = cut.message_count <= 1 && noisy.message_count <= 1;
            if (cut.message_count) is_good &= message_is_part(&cut.messages[0], &whole);
            if (noisy.message_count && !ends_in_last_figure(sample, size))
                is_good &= message_is_part(&noisy.messages[0], &whole);
            if (!is_good) fail_msg("%s cut at %zu", sample_names[i], size);
            arena_free(&scratch);
        }
        arena_free(&arena);
    }
}

static void test_wrapped_anywhere(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        struct arena arena, scratch;
        arena_init(&arena, 0);
        struct bytes sample = sample_read(sample_names[i], &arena);
        struct oom_message whole = sample_message(sample_names[i], &arena);
        for (int width = 20; width < 200; width += 7) {
            arena_init(&scratch, 0);
            expect_whole(wrapped(sample, (size_t)width, "", &scratch), &whole, 1, sample_names[i], width);
            expect_whole(wrapped(sample, (size_t)width, "        ", &scratch), &whole, 1, sample_names[i], -width);
            arena_free(&scratch);
        }
        arena_free(&arena);
    }
}

static void test_dressed(void **state) {
    (void)state;
    static const char *const before[] = {"[rank3]: ",
                                         "E0000 00:00:1735689600.123456    4242 client.cc:12] ",
                                         "worker-7: ",
                                         "2026-01-02T03:04:05.678Z ",
                                         "2026-01-02 03:04:05,678 ERROR ",
                                         "\x1b[31m",
                                         "> ",
                                         "(train pid=77, ip=10.0.0.3) ",
                                         "pod-0  | ",
                                         "3: ",
                                         "    ",
                                         "2026-01-02T03:04:05.678901234Z stderr F ",
                                         "Jan  2 03:04:05 ",
                                         "tpu-vm-1: ",
                                         "worker 3: ",
                                         "ERROR:root:",
                                         "ERROR: ",
                                         "10.0.0.1: ",
                                         "2026-01-02 03:04:05,123 ERROR train: ",
                                         "2026-01-02 03:04:05,123 - train - ERROR - ",
                                         "2026-01-02 03:04:05.123 | ERROR    | __main__:step:53 - ",
                                         "[2026-01-02 03:04:05,123][__main__][ERROR] - ",
                                         "ERROR 2026-01-02 03:04:05 train.py:53] ",
                                         "Jan  2 03:04:05 myhost train[4242]: ",
                                         "2026-01-02T03:04:05+00:00 myhost python3[7]: ",
                                         "myhost: ",
                                         "node7.cluster.local: [rank0]: "};
    static const char *const after[] = {"", "\r", "\x1b[0m", "   "};
    struct arena arena, scratch;
    arena_init(&arena, 0);
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        struct bytes sample = sample_read(sample_names[i], &arena);
        struct oom_message whole = sample_message(sample_names[i], &arena);
        for (size_t k = 0; k < sizeof before / sizeof before[0]; k++) {
            arena_init(&scratch, 0);
            for (size_t j = 0; j < sizeof after / sizeof after[0]; j++)
                expect_whole(dressed(sample, before[k], after[j], &scratch), &whole, 1, before[k], (int)i);
            arena_free(&scratch);
        }
    }
    arena_free(&arena);
}

// `sample` with `text` behind the first `words` from the second entry on.
static struct bytes inserted(struct bytes sample, const char *words, const char *text, struct arena *arena) {
    struct text log = text_new(arena, sample.size + strlen(text) + 1);
    struct oom_cursor at = {sample.data, sample.data + sample.size};
    assert_true(oom_find(&at, "2. Size:", sample.size) && oom_find(&at, words, sample.size));
    put(&log, (struct bytes){sample.data, (size_t)(at.at - sample.data)});
    put(&log, bytes_of(text));
    put(&log, (struct bytes){at.at, (size_t)(at.end - at.at)});
    return bytes_of_text(log);
}

static void test_unknown_fields(void **state) {
    (void)state;
    static const char *const fields[] = {"\n     Fragmentation: 3.0K", "\n     Entry parameter name: x"};
    static const char *const behind[] = {"768.00M", "source_line=5", "index=14", "HLO temp"};
    struct arena arena;
    arena_init(&arena, 0);
    struct bytes sample = sample_read("tpu_hbm_used", &arena);
    struct oom_message whole = sample_message("tpu_hbm_used", &arena);
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < sizeof behind / sizeof behind[0]; k++)
            expect_whole(inserted(sample, behind[k], fields[i], &arena), &whole, 1, fields[i], (int)k);
    }
    arena_free(&arena);
}

static void test_quotes_in_name(void **state) {
    (void)state;
    static const char log[] =
        "Ran out of memory in memory space hbm. Used 20.00G of 15.75G hbm. Exceeded hbm capacity by 4.25G.\n"
        "  Largest program allocations in hbm:\n\n  1. Size: 1.50G\n"
        "     Operator: op_name=\"f[\\\"a\\\"]/dot\" source_file=\"/a.py\" source_line=7\n     Unpadded size: 1.50G\n"
        "     ====\n";
    struct arena arena;
    arena_init(&arena, 0);
    struct oom_log found = log_read(BYTES(log), &arena);
    assert_int_equal(found.message_count, 1);
    assert_int_equal(found.messages[0].entry_count, 1);
    assert_string_equal(found.messages[0].entries[0].op_name, "f[\"a\"]/dot");
    assert_string_equal(found.messages[0].entries[0].source, "/a.py:7");
    arena_free(&arena);
}

static void test_space_of_several_words(void **state) {
    (void)state;
    struct bytes log = BYTES(
        "Ran out of memory in memory space sparse core spmem. Used 9.00M of 8.00M sparse core spmem. "
        "Exceeded sparse core spmem capacity by 1.00M.\n");
    struct arena arena;
    arena_init(&arena, 0);
    struct oom_log found = log_read(log, &arena);
    assert_int_equal(found.message_count, 1);
    assert_string_equal(found.messages[0].memory_space, "sparse core spmem");
    assert_int_equal(found.messages[0].capacity_bytes, 8 << 20);
    assert_int_equal(found.messages[0].exceeded_bytes, 1 << 20);
    assert_null(found.messages[0].error_code);
    arena_free(&arena);
}

static void test_escaped_in_one_line(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    struct bytes sample = sample_read("tpu_hbm_used", &arena);
    struct oom_message whole = sample_message("tpu_hbm_used", &arena);
    struct text log = text_new(&arena, sample.size * 2 + 64);
    put(&log, BYTES("{\"severity\":\"ERROR\",\"message\":\""));
    for (size_t i = 0; i < sample.size; i++) {
        if (sample.data[i] == '\n')
            put(&log, BYTES("\\n"));
        else if (sample.data[i] == '"')
            put(&log, BYTES("\\\""));
        else
            put(&log, (struct bytes){sample.data + i, 1});
    }
    put(&log, BYTES("\"}\n"));
    expect_whole(bytes_of_text(log), &whole, 1, "json", 0);
    arena_free(&arena);
}

// Processes write line by line in turn.
static void check_interleaved(const char *before, const char *after) {
    struct arena arena;
    arena_init(&arena, 0);
    struct bytes sample = sample_read("tpu_hbm_used", &arena);
    struct oom_message whole = sample_message("tpu_hbm_used", &arena);
    struct text log = text_new(&arena, sample.size * 8);
    for (size_t at = 0, end; at < sample.size; at = end) {
        end = at;
        while (sample.data[end++] != '\n') continue;
        for (int rank = 0; rank < 3; rank++) {
            put(&log, bytes_of(arena_printf(&arena, "%s%c%s", before, 'a' + rank, after)));
            put(&log, (struct bytes){sample.data + at, end - at});
        }
    }
    expect_whole(bytes_of_text(log), &whole, 3, before, 0);
    arena_free(&arena);
}

static void test_interleaved_hosts(void **state) {
    (void)state;
    check_interleaved("[rank-", "]: ");
    check_interleaved("host", ": ");
    check_interleaved("Jan  2 03:04:05 host", " train[7]: ");
}

// Names that stand alone, as of settings that a program prints, are not of processes.
static void test_a_name_alone_is_no_prefix(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    struct bytes sample = sample_read("tpu_hbm_used", &arena);
    struct oom_message whole = sample_message("tpu_hbm_used", &arena);
    expect_whole(inserted(sample, "source_line=5", "\nwarning: slow", &arena), &whole, 1, "warning", 0);
    struct line_prefix prefix = line_prefix_read(BYTES("shape: bf16[8]"));
    assert_int_equal(prefix.size, 0);
    assert_int_equal(line_prefix_name(BYTES("shape: bf16[8]")), sizeof "shape:" - 1);
    assert_int_equal(line_prefix_name(BYTES("Shape: bf16[8]")), 0);
    assert_int_equal(line_prefix_name(BYTES("shape bf16[8]")), 0);
    arena_free(&arena);
}

static void test_several_in_ten_megabytes(void **state) {
    (void)state;
    enum { NOISE_LINES = 8000 };
    struct arena arena;
    arena_init(&arena, 0);
    struct text log = text_new(&arena, (size_t)NOISE_LINES * (SAMPLE_COUNT + 1) * sizeof noise + (1 << 16));
    for (size_t i = 0; i <= SAMPLE_COUNT; i++) {
        for (int k = 0; k < NOISE_LINES; k++) put(&log, BYTES(noise));
        if (i < SAMPLE_COUNT) put(&log, sample_read(sample_names[i], &arena));
    }
    assert_true(log.size > 10 << 20);
    struct oom_log found = log_read(bytes_of_text(log), &arena);
    assert_int_equal(found.message_count, SAMPLE_COUNT);
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        struct oom_message whole = sample_message(sample_names[i], &arena);
        assert_true(message_is_same(&found.messages[i], &whole));
        assert_int_equal(found.messages[i].count, 1);
    }
    arena_free(&arena);
}

static void test_no_message(void **state) {
    (void)state;
    static const char no_failure[] =
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.03GiB with freed_by_count=0. The caller "
        "indicates "
        "that this is not a failure, but this may mean that there could be performance gains.\n";
    static const char *const logs[] = {
        no_failure,
        "",
        "\n\n\n",
        "all is well\n",
        "we ran out of memory on Monday, so we bought more\n",
        "Attempting to allocate 3 workers. Used 12 of 16 slots. Allocation (size=big) failed\n",
        "MemoryError: Unable to allocate 12.0 GiB\n"};
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        struct arena arena;
        arena_init(&arena, 0);
        if (log_read(bytes_of(logs[i]), &arena).message_count) fail_msg("%s", logs[i]);
        arena_free(&arena);
    }
}

// `size` bytes of `piece`, again and again. Whether it can be read, and what that takes beside it.
static bool reads_repeated(const char *piece, size_t size, size_t *taken_bytes, struct error *error) {
    struct arena arena, log_arena;
    struct oom_log found;
    arena_init(&arena, (size_t)1 << 30);
    arena_init(&log_arena, 0);
    struct text log = text_new(&log_arena, size + strlen(piece));
    while (log.size < size) put(&log, bytes_of(piece));
    bool is_good = oom_log_read(bytes_of_text(log), &arena, &found, error);
    *taken_bytes = arena.used_bytes;
    arena_free(&arena);
    arena_free(&log_arena);
    return is_good;
}

static void test_short_lines_take_little_or_are_refused_in_words(void **state) {
    (void)state;
    enum { MIB = 1 << 20, LARGE = 8 * MIB };
    static const struct {
        const char *piece, *refusal;  // NULL: none
    } cases[] = {
        {"\n", NULL},
        {"a line that is short\n", NULL},
        {"a\n", "The log has more than 524288 lines; give the part around the error."},
        {"used ", "The log has more than 524288 words that a message may begin with; give the part around the error."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t taken;
        struct error error = {0};
        bool is_good = reads_repeated(cases[i].piece, LARGE, &taken, &error);
        assert_int_equal(is_good, !cases[i].refusal);
        if (!is_good) assert_string_equal(error.message, cases[i].refusal);
        assert_in_range(taken, 0, 5 * LARGE);
    }
}

static void test_the_limit_of_the_arena_is_told(void **state) {
    (void)state;
    struct arena arena;
    struct error error = {0};
    struct oom_log found;
    arena_init(&arena, 1 << 20);
    static const uint8_t log[1 << 20];
    assert_false(oom_log_read((struct bytes){log, sizeof log}, &arena, &found, &error));
    assert_int_equal(error.code, ERROR_TOO_BIG);
    assert_string_equal(error.message, "Reading this log takes more than 1 MiB; give the part around the error.");
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_runtime_and_gpu_figures),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_wrapped_anywhere),
        cmocka_unit_test(test_dressed),
        cmocka_unit_test(test_escaped_in_one_line),
        cmocka_unit_test(test_interleaved_hosts),
        cmocka_unit_test(test_a_name_alone_is_no_prefix),
        cmocka_unit_test(test_several_in_ten_megabytes),
        cmocka_unit_test(test_unknown_fields),
        cmocka_unit_test(test_quotes_in_name),
        cmocka_unit_test(test_space_of_several_words),
        cmocka_unit_test(test_no_message),
        cmocka_unit_test(test_short_lines_take_little_or_are_refused_in_words),
        cmocka_unit_test(test_the_limit_of_the_arena_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
