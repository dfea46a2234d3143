// hbmview get_peak_allocations: XProf's list of programs by their memory, and what fills each.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/text_writer.h"
#include "server/command/xprof_buffers.h"
#include "server/command/xprof_command.h"
#include "server/json_read.h"

static const char help[] =
    "hbmview get_peak_allocations: XProf's command of that name\n"
    "\n"
    "  hbmview get_peak_allocations PATH [--limit N] [--min_size_mib SIZE]\n"
    "            [--output_format json|markdown] [--include_summary True|False]\n"
    "            [--aggregate_instructions True|False] [--session_id S]\n"
    "\n"
    "Each program's total in HBM and the buffers that are live at its peak, in MiB.\n"
    "hbmview report PATH tells more, in bytes, with source lines.\n"
    "\n"
    "  --logdir PATH                another way to give PATH\n"
    "  --session_id S               a session of PATH (the newest)\n"
    "  --host H                     a host that the session must have\n"
    "  --limit N                    so many programs; 0: all (10)\n"
    "  --min_size_mib SIZE          smaller buffers are summed as Others (1.0)\n"
    "  --output_format F            json or markdown (json)\n"
    "  --include_summary B          with a summary of the programs (True)\n"
    "  --aggregate_instructions B   equal buffers of like names in one row (True)\n"
    "  --bypass_cache B             taken, and without effect: nothing is cached in files\n" STORAGE_FLAGS_HELP
    "  --help\n"
    "\n"
    "Exit codes: 0 good; 2 wrong usage; 3 something could not be read.\n";

enum { DIGITS = 17, DEFAULT_LIMIT = 10 };

struct asked {
    struct xprof_command command;
    int limit;
    bool is_markdown, has_summary;
    struct xprof_merging merging;
};

// --- What is asked ---

static bool parse(struct asked *asked, int count, char *const arguments[], char *problem) {
    static const struct flag_choice formats[] = {{"json", FORMAT_JSON}, {"markdown", FORMAT_MARKDOWN}, {NULL, 0}};
    const char *size = "1.0", *summary = "True", *merges = "True";
    char *end;
    unsigned format = FORMAT_JSON;
    *asked = (struct asked){.command.name = "get_peak_allocations", .limit = DEFAULT_LIMIT};
    const struct flag more[] = {{"limit", FLAG_NUMBER, .number = &asked->limit, .min = 0, .max = INT_MAX},
                                {"min_size_mib", FLAG_TEXT, .text = &size},
                                {"output_format", FLAG_CHOICE, .choice = &format, .choices = formats},
                                {"include_summary", FLAG_TEXT, .text = &summary},
                                {"aggregate_instructions", FLAG_TEXT, .text = &merges}};
    if (!xprof_command_parse(&asked->command, count, arguments, more, sizeof more / sizeof more[0], problem) ||
        !xprof_switch_read("include_summary", summary, &asked->has_summary, problem) ||
        !xprof_switch_read("aggregate_instructions", merges, &asked->merging.is_on, problem))
        return false;
    asked->is_markdown = format == FORMAT_MARKDOWN;
    asked->merging.min_size_text = size;
    asked->merging.min_size_mib = strtod(size, &end);
    if (end != size && !*end) return true;
    snprintf(problem, OPTIONS_PROBLEM_BYTES, "--min_size_mib is a number of MiB, not \"%.60s\".", size);
    return false;
}

// --- Programs ---

// NULL: it cannot be shown. XProf passes over it then, and so does this, unless it might be shown the next time.
static json_t *program_of(struct asked *asked, const char *name) {
    struct request_argument query[] = {
        {"tag", "memory_viewer"}, {"run", asked->command.session}, {"module_name", name}, {0}};
    bool is_good;
    asked->command.error.code = ERROR_NONE;
    struct bytes body = xprof_command_ask(&asked->command, "data", query, &is_good);
    json_t *view = is_good ? json_read(body, 0, NULL) : NULL;
    if (!view) return NULL;
    json_t *buffers = xprof_buffers(json_object_get(view, "maxHeap"), &asked->merging, &asked->command.work.arena);
    const json_t *total = json_object_get(view, "totalBufferAllocationMib");
    json_t *program = json_pack("{s:s, s:f, s:o}", "module_name", name, "total_hbm_mib", json_number_value(total),
                                "top_buffers", buffers);
    json_decref(view);
    return program;
}

static double total_of(const json_t *program) {
    return json_number_value(json_object_get(program, "total_hbm_mib"));
}

// The largest first, equal ones as they came.
static void insert(json_t *programs, json_t *program) {
    size_t place = json_array_size(programs);
    while (place && total_of(json_array_get(programs, place - 1)) < total_of(program)) place--;
    json_array_insert_new(programs, place, program);
}

static bool is_of_the_moment(const struct error *error) {
    return error->code == ERROR_UNREADABLE || error->code == ERROR_NO_MEMORY;
}

// All programs, the largest first; NULL: there is none, and the error says so.
static json_t *read_programs(struct asked *asked) {
    struct request_argument query[] = {{"run", asked->command.session}, {0}};
    bool is_good;
    struct bytes list = xprof_command_ask(&asked->command, "module_list", query, &is_good);
    char *rest = NULL, *names = is_good ? arena_string(&asked->command.work.arena, list) : NULL;
    if (!is_good) return NULL;
    if (!names || !names[0] || strcmp(names, "NO_MODULE") == 0) {
        error_set(&asked->command.error, ERROR_BAD_REQUEST, "No memory viewer data returned for the session");
        return NULL;
    }
    json_t *programs = json_array();
    for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        json_t *program = program_of(asked, name);
        if (program) insert(programs, program);
        if (!program && is_of_the_moment(&asked->command.error)) {
            json_decref(programs);
            return NULL;
        }
    }
    return programs;
}

static json_t *summary_of(const json_t *programs, size_t all) {
    json_t *top = json_array(), *program;
    size_t i;
    json_array_foreach(programs, i, program) {
        json_array_append_new(top, json_pack("{s:O, s:O}", "module_name", json_object_get(program, "module_name"),
                                             "total_hbm_mib", json_object_get(program, "total_hbm_mib")));
    }
    return json_pack("{s:I, s:o}", "total_modules", (json_int_t)all, "top_modules", top);
}

// --- Markdown ---

static void put_line(struct text_writer *text, const char *line) {
    text_put(text, line ? line : "");
}

static void put_row(struct text_writer *text, const json_t *row, const char *name, const char *size) {
    put_line(text, arena_printf(text->arena, "| `%s` | %.2f |\n", json_string_value(json_object_get(row, name)),
                                json_number_value(json_object_get(row, size))));
}

static void put_summary(struct text_writer *text, const json_t *programs, size_t all) {
    put_line(text, arena_printf(text->arena, "## Session Summary\n- Total Modules: %zu\n", all));
    if (json_array_size(programs)) text_put(text, "\n| Module | Total HBM (MiB) |\n| :--- | ---: |\n");
    for (size_t i = 0; i < json_array_size(programs); i++)
        put_row(text, json_array_get(programs, i), "module_name", "total_hbm_mib");
    text_put(text, "\n");
}

static void put_program(struct text_writer *text, const json_t *program) {
    const json_t *buffers = json_object_get(program, "top_buffers");
    put_line(text, arena_printf(text->arena, "## Module: `%s`\nTotal HBM: %.2f MiB\n\n",
                                json_string_value(json_object_get(program, "module_name")), total_of(program)));
    text_put(text, "| Instruction | Size (MiB) |\n| :--- | ---: |\n");
    for (size_t i = 0; i < json_array_size(buffers); i++)
        put_row(text, json_array_get(buffers, i), "instruction", "size_mib");
    text_put(text, "\n");
}

static enum exit_code write_markdown(struct asked *asked, const json_t *programs, size_t all) {
    struct text_writer text = {.arena = &asked->command.work.arena};
    text_put(&text, "# Peak Memory Allocations by Module\n\n");
    if (asked->merging.is_on)
        text_put(&text, "> [!NOTE]\n> **Aggregation Logic:**\n> - Buffers with similar names (e.g., `name.1`, "
                        "`name.2`) and identical sizes are aggregated into `name.*`.\n> - Buffers smaller than the "
                        "threshold are aggregated into 'Others'.\n\n");
    if (asked->has_summary) put_summary(&text, programs, all);
    for (size_t i = 0; i < json_array_size(programs); i++) put_program(&text, json_array_get(programs, i));
    const char *whole = text_writer_finish(&text);
    return whole ? xprof_command_write_text(whole) : EXIT_CODE_UNREADABLE;
}

// --- The command ---

static enum exit_code write_programs(struct asked *asked, json_t *programs) {
    size_t all = json_array_size(programs), limit = (size_t)asked->limit;
    while (limit && json_array_size(programs) > limit) json_array_remove(programs, json_array_size(programs) - 1);
    if (asked->is_markdown) return write_markdown(asked, programs, all);
    if (!asked->has_summary) return xprof_command_write(&asked->command, programs, DIGITS);
    json_t *document = json_pack("{s:o, s:o, s:O}", "capture", xprof_command_capture(&asked->command), "summary",
                                 summary_of(programs, all), "modules", programs);
    enum exit_code code = xprof_command_write(&asked->command, document, DIGITS);
    json_decref(document);
    return code;
}

static enum exit_code run(struct asked *asked) {
    json_t *programs = xprof_command_begin(&asked->command) ? read_programs(asked) : NULL;
    enum exit_code code = programs ? write_programs(asked, programs)
                                   : xprof_command_write(&asked->command, NULL, DIGITS);
    json_decref(programs);
    return code;
}

enum exit_code get_peak_allocations_run(int count, char *const arguments[]) {
    struct asked asked;
    char problem[OPTIONS_PROBLEM_BYTES];
    enum exit_code code;
    bool is_good = parse(&asked, count, arguments, problem);
    const char *told = is_good && asked.command.serving.show_help ? help : NULL;
    if (command_begins(is_good ? NULL : problem, told, &code)) code = run(&asked);
    xprof_command_end(&asked.command);
    return code;
}
