#include <limits.h>
#include <stdio.h>

#include "analysis/advice/advise.h"
#include "server/document/advice_document.h"
#include "server/command/advise_check.h"
#include "server/command/report_data.h"
#include "server/text/json_short.h"

// --- What is asked ---

enum { WAYS_MAX = 1 << 20, TOP_ALL = -1 };

struct advise_options {
    const char *path;
    const char *session;  // NULL: all
    const char *module;   // NULL: the largest
    struct advice_request request;
    unsigned format;  // enum format
    int top;          // TOP_ALL: every row of the JSON
    bool follow_symlinks;
    bool wants_check;
    unsigned checked;  // enum advise_checked
    const char *topology, *hlo, *page, *token_file;
    int time_limit_s;  // of each compile; 0: the package's
    struct storage_settings storage;
    bool show_help;
};

static const char help[] = "hbmview advise: what to change so that a program needs less memory, with bytes\n"
                           "\n"
                           "  hbmview advise PATH [--session S] [--module M] [--capacity SIZE]\n"
                           "                      [--batch N] [--sequence N] [--ways N] [--top N]\n"
                           "                      [--check[=flags]] [--topology T] [--hlo FILE]\n"
                           "                      [--page URL] [--token_file FILE] [--time_limit N]\n"
                           "                      [--format text|json|markdown]\n"
                           "\n"
                           "PATH is what `hbmview report` takes. For each change: whether it applies to this\n"
                           "program and why, the total HBM of the changed program with a range, and what to\n"
                           "write. The prediction replays the compiler's heap with the changed arrays; the\n"
                           "program's own code and what the runtime reserves are not counted.\n"
                           "\n"
                           "  --follow_symlinks  open links that lead out of PATH\n"
                           "  --session S      look in this session only (all)\n"
                           "  --module M       this module: \"jit_f(1)\", or \"jit_f\" (the largest one)\n"
                           "  --capacity SIZE  HBM of a chip, 16GiB or v5e: then also the plan, the\n"
                           "                   changes that together fit it\n"
                           "  --batch N        the size of the batch dimension (found by its effects)\n"
                           "  --sequence N     the length of the sequence (found by its effects)\n"
                           "  --ways N         chips to shard over (4)\n"
                           "  --top N          so many changes in the json, what saves most first; the others\n"
                           "                   are counted (all, in the order of docs/api.md)\n"
                           "  --check          then ask the compiler: it compiles what can be changed in the\n"
                           "                   program itself, predicted beside compiled; --check=flags tries\n"
                           "                   XLA's flags. Wants hbmview's Python package and jax[tpu] (no\n"
                           "                   chip) in $HBMVIEW_PYTHON or python3, and a dump with\n"
                           "                   *before_optimizations.hlo.pb or .txt\n"
                           "  --topology T     what --check compiles for, such as v6e:2x2 (v5e:2x2)\n"
                           "  --hlo FILE       the program before optimizations, or its dump's folder, where it\n"
                           "                   is not in PATH\n"
                           "  --page URL       an open page of hbmview's: it shows how far --check is, and the\n"
                           "                   results (docs/advice.md)\n"
                           "  --token_file FILE  the token of that page, where it wants one ($HBMVIEW_TOKEN)\n"
                           "  --time_limit N   seconds for each compile of --check (1800)\n"
                           "  --format F       text, json or markdown (text)\n" STORAGE_FLAGS_HELP "  --help\n"
                           "\n"
                           "Exit codes: 0 good; 2 wrong usage; 3 something could not be read, or there is no\n"
                           "compiler for --check.\n";

static const struct flag_choice checks[] = {{"flags", ADVISE_CHECK_FLAGS}, {NULL, 0}};

static bool parse(int count, char *const arguments[], struct advise_options *options, char *problem) {
    int batch = 0, sequence = 0, ways = ADVICE_WAYS_DEFAULT;
    *options = (struct advise_options){.top = TOP_ALL, .storage = storage_settings_usual()};
    const struct flag flags[] = {
        STORAGE_FLAGS(options->storage),
        {"session", FLAG_TEXT, .text = &options->session},
        {"module", FLAG_TEXT, .text = &options->module},
        {"capacity", FLAG_CAPACITY, .bytes = &options->request.capacity_bytes},
        {"top", FLAG_NUMBER, .number = &options->top, .min = 0, .max = INT_MAX},
        {"format", FLAG_CHOICE, .choice = &options->format, .choices = format_choices_without_csv},
        {"batch", FLAG_NUMBER, .number = &batch, .min = 1, .max = INT_MAX},
        {"sequence", FLAG_NUMBER, .number = &sequence, .min = 2, .max = INT_MAX},
        {"ways", FLAG_NUMBER, .number = &ways, .min = 2, .max = WAYS_MAX},
        {"follow_symlinks", FLAG_SWITCH, .on = &options->follow_symlinks},
        {"check", FLAG_SWITCH, .on = &options->wants_check, .choice = &options->checked, .choices = checks},
        {"topology", FLAG_TEXT, .text = &options->topology},
        {"hlo", FLAG_PATH, .text = &options->hlo},
        {"page", FLAG_TEXT, .text = &options->page},
        {"token_file", FLAG_PATH, .text = &options->token_file},
        {"time_limit", FLAG_NUMBER, .number = &options->time_limit_s, .min = 1, .max = INT_MAX},
        {"help", FLAG_SWITCH, .on = &options->show_help},
    };
    const struct flag_set set = {flags, sizeof flags / sizeof flags[0], &options->path, "PATH", NULL};
    if (!flags_read(count, arguments, &set, problem)) return false;
    options->request.batch = batch;
    options->request.sequence = sequence;
    options->request.ways = ways;
    if (options->path || options->show_help) return true;
    snprintf(problem, OPTIONS_PROBLEM_BYTES,
             "Advice needs a PATH: hbmview advise PATH [--module M] [--capacity SIZE]; see hbmview advise --help.");
    return false;
}

// --- Which program ---

static bool hbm_total(struct report *report, const struct report_program *program, int64_t *total_bytes) {
    struct report_module module;
    struct memory_totals_list spaces = {0};
    struct error error;
    bool good = report_module_load(report, program, &module) &&
                memory_totals_list(&module.module, &module.arena, &spaces, &error);
    *total_bytes = good ? memory_totals_of(&spaces, 0).total_bytes : -1;
    report_module_free(&module);
    return good;
}

// The program with the largest total in HBM; of one that is alone, nothing is loaded. NULL: none can be read.
static const struct report_program *largest_program(struct report *report, const struct report_inventory *inventory) {
    const struct report_program *largest = NULL;
    int64_t largest_bytes = -1, bytes;
    if (inventory->program_count == 1) return &inventory->programs[0];
    for (size_t i = 0; i < inventory->program_count; i++) {
        progress_step(report->options.progress, "program", i + 1, inventory->program_count);
        if (!hbm_total(report, &inventory->programs[i], &bytes) || bytes <= largest_bytes) continue;
        largest = &inventory->programs[i];
        largest_bytes = bytes;
    }
    return largest;
}

// --- Its advice ---

static void write_document(const struct advise_options *options, const struct advice_document *document,
                           struct arena *arena, struct output *output) {
    struct json_writer w = json_writer_on(output);
    if (options->format != FORMAT_JSON) {
        advice_text_write(document, options->format == FORMAT_MARKDOWN, arena, output);
        return;
    }
    advice_json_write(document, &w);
    if (options->top != TOP_ALL) json_shorten_output(output, (size_t)options->top, "interventions", "saves_bytes");
    output_append_char(output, '\n');
}

static bool make(const struct advise_options *options, struct report_module *module, struct advice *advice,
                 struct error *error) {
    if (!advice) return error_set(error, ERROR_TOO_BIG, "There is not enough memory for advice.");
    return advice_make(&module->module, &options->request, &module->arena, advice, error);
}

static bool advise_on(struct report *report, const struct advise_options *options,
                      const struct report_program *program) {
    struct report_module module;
    struct error error;
    bool is_good = report_module_load(report, program, &module);
    struct advice *advice = is_good ? arena_new(&module.arena, struct advice, 1) : NULL;
    if (is_good && make(options, &module, advice, &error)) {
        struct advice_document document = {advice, program->session->name, program->hosts[0], program->name};
        write_document(options, &document, &module.arena, &report->sink.output);
    } else if (is_good) {
        is_good = report_errors_add_in(&report->errors, &error, program->file->path, program->program->offset);
    }
    report_module_free(&module);
    return is_good;
}

static enum exit_code run_followed(const struct advise_options *options, struct progress *progress) {
    const struct report_options of = {.path = options->path,
                                      .session = options->session,
                                      .module = options->module,
                                      .follow_symlinks = options->follow_symlinks,
                                      .space = REPORT_ALL,
                                      .top = REPORT_ALL,
                                      .fail_over_bytes = REPORT_ALL,
                                      .storage = options->storage,
                                      .progress = progress};
    struct report report;
    struct report_inventory inventory = {0};
    bool has_begun = report_begin(&of, &report);
    if (has_begun && report_find_sessions(&report)) report_inventory_read(&report, &inventory);
    const struct report_program *program = largest_program(&report, &inventory);
    bool has_advice = program && advise_on(&report, options, program);
    progress_end(progress);
    if (has_begun && !program && !report_errors_any(&report.errors))
        command_complain(EXIT_CODE_UNREADABLE, "There is no compiled program in that PATH.");
    enum exit_code code = report_end(&report, "advice");
    return has_advice ? code : EXIT_CODE_UNREADABLE;
}

static enum exit_code run(const struct advise_options *options) {
    struct progress progress;
    progress_begin(&progress);
    enum exit_code code = run_followed(options, &progress);
    progress_end(&progress);
    return code;
}

// --- Asking the compiler ---

static const char *format_name(unsigned format) {
    const struct flag_choice *at = format_choices_without_csv;
    while (at->name && at->value != format) at++;
    return at->name;
}

static enum exit_code ask_compiler(const struct advise_options *options) {
    struct advise_check check;
    advise_check_begin(&check, options->path, options->checked);
    advise_check_add(&check, "session", options->session);
    advise_check_add(&check, "module", options->module);
    advise_check_add(&check, "topology", options->topology);
    advise_check_add(&check, "hlo", options->hlo);
    advise_check_add(&check, "page", options->page);
    advise_check_add(&check, "token_file", options->token_file);
    if (options->time_limit_s) advise_check_add_number(&check, "time_limit", options->time_limit_s);
    advise_check_add(&check, "format", format_name(options->format));
    if (options->request.capacity_bytes) advise_check_add_number(&check, "capacity", options->request.capacity_bytes);
    if (options->request.batch) advise_check_add_number(&check, "batch", options->request.batch);
    if (options->request.sequence) advise_check_add_number(&check, "sequence", options->request.sequence);
    advise_check_add_number(&check, "ways", options->request.ways);
    if (options->follow_symlinks) advise_check_add_switch(&check, "follow_symlinks");
    if (options->top != TOP_ALL) advise_check_add_number(&check, "top", options->top);
    return advise_check_run(&check);
}

enum exit_code advise_run(int count, char *const arguments[]) {
    struct advise_options options;
    char problem[OPTIONS_PROBLEM_BYTES];
    enum exit_code code;
    bool is_good = parse(count, arguments, &options, problem);
    const char *told = is_good && options.show_help ? help : NULL;
    if (!command_begins(is_good ? NULL : problem, told, &code)) return code;
    return options.wants_check ? ask_compiler(&options) : run(&options);
}
