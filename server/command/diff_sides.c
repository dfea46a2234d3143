#include "server/command/diff_sides.h"

#include <stdio.h>

#include "server/text/known_names.h"
#include "server/text/printable.h"

bool diff_side_begin(const struct diff_options *options, const struct diff_side_options *of, struct progress *progress,
                     struct diff_side *side) {
    const struct report_options report = {.path = of->path,
                                          .session = of->session,
                                          .module = of->module,
                                          .follow_symlinks = options->follow_symlinks,
                                          .space = options->space,
                                          .top = REPORT_ALL,
                                          .format = options->format,
                                          .fail_over_bytes = REPORT_ALL,
                                          .step = MEMORY_GROUPS_AT_PEAK,
                                          .frameworks = options->frameworks,
                                          .storage = options->storage,
                                          .progress = progress};
    if (!report_begin(&report, &side->report)) return false;
    if (report_find_sessions(&side->report)) report_inventory_read(&side->report, &side->inventory);
    return true;
}

// --- Which program ---

static struct bytes name_of(const struct report_program *program) {
    return program->program->name;
}

// What there is to choose from, on stderr.
static void list_programs(struct diff_side *side, const char *why) {
    struct arena *arena = &side->report.work.arena;
    struct known_names known = {.count = 0};
    progress_hide(side->report.options.progress);
    for (size_t i = 0; i < side->inventory.program_count; i++)
        known_names_add(&known, name_of(&side->inventory.programs[i]), arena);
    fprintf(stderr, "hbmview: %s: %s: %s.\n", printable_text(bytes_of(side->report.opened.path), arena), why,
            known_names_text(&known, KNOWN_NAMES_MAX, arena));
}

static bool is_in_one_session(const struct diff_side *side) {
    const struct report_inventory *inventory = &side->inventory;
    for (size_t i = 1; i < inventory->program_count; i++) {
        if (inventory->programs[i].session != inventory->programs[0].session) return false;
    }
    return true;
}

static void list_sessions(struct diff_side *side) {
    struct arena *arena = &side->report.work.arena;
    struct known_names known = {.count = 0};
    progress_hide(side->report.options.progress);
    for (size_t i = 0; i < side->inventory.program_count; i++)
        known_names_add(&known, bytes_of(side->inventory.programs[i].session->name), arena);
    fprintf(stderr, "hbmview: %s: several sessions have such a program; give the folder of one, or --session%s: %s.\n",
            printable_text(bytes_of(side->report.opened.path), arena), "",
            known_names_text(&known, KNOWN_NAMES_MAX, arena));
}

bool diff_side_read(struct diff_side *side, enum exit_code *code) {
    *code = EXIT_CODE_UNREADABLE;
    if (side->inventory.program_count == 0) {
        if (!report_errors_any(&side->report.errors))
            list_programs(side, "There is no compiled program in that path; there are");
        return false;
    }
    if (!is_in_one_session(side)) {
        *code = EXIT_CODE_USAGE;
        list_sessions(side);
        return false;
    }
    return diff_programs_read(&side->report, &side->inventory, &side->programs) && side->programs.count > 0;
}

static void choose(struct diff_side *side, const struct report_overview_row *row) {
    side->row = *row;
    if (side->inventory.program_count < 2) return;
    const char *why = arena_printf(&side->report.work.arena,
                                   "%s is compared (--module or --module-b names another of these %zu)",
                                   row->program->name, side->inventory.program_count);
    if (why) list_programs(side, why);
}

bool diff_sides_choose(struct diff_side *a, struct diff_side *b, struct diff_pairs *pairs, enum exit_code *code) {
    *code = EXIT_CODE_UNREADABLE;
    if (!diff_programs_pair(&a->programs, &b->programs, &a->report.work.arena, pairs) || !pairs->compared) return false;
    choose(a, pairs->compared->a);
    choose(b, pairs->compared->b);
    return true;
}

bool diff_side_load(struct diff_side *side) {
    struct error error;
    if (!report_module_load(&side->report, side->row.program, &side->module)) return false;
    return buffer_sources_read(&side->module.module, side->report.options.frameworks, &side->module.arena,
                               &side->sources, &error) ||
           report_errors_add_in(&side->report.errors, &error, side->row.program->file->path,
                                side->row.program->program->offset);
}
