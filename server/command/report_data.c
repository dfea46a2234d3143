#include "server/command/report_data.h"

#include <stdio.h>

#include "analysis/hlo/program_load.h"

static const size_t MODULE_ARENA_LIMIT_BYTES = (size_t)4 << 30;

// --- A module ---

// The error with the name of the program, which a file may have hundreds of.
static bool note_error(struct report *report, const struct report_program *program, const struct error *error) {
    struct error named = *error;
    snprintf(named.message, sizeof named.message, "%.100s: %.400s", program->name, error->message);
    return report_errors_add_in(&report->errors, &named, program->file->path, program->program->offset);
}

// The open file of the program, of the version that was listed.
static struct byte_source *source_of(struct report *report, const struct input_file *file, struct error *error) {
    struct open_file *last = &report->last_opened;
    if (last->source && strcmp(report->last_path, file->path) == 0) return last->source;
    file_store_close(last);
    report->last_path = file->path;
    return file_store_open(&report->work, file, last, error) ? last->source : NULL;
}

static bool load(struct report *report, const struct report_program *program, struct report_module *module,
                 struct error *error) {
    struct byte_source *source = source_of(report, program->file, error);
    return source && program_load(program->file, program->program, source, &module->arena, &module->module, error);
}

bool report_module_load(struct report *report, const struct report_program *program, struct report_module *module) {
    struct error error;
    *module = (struct report_module){.program = program};
    arena_init(&module->arena, MODULE_ARENA_LIMIT_BYTES);
    if (!load(report, program, module, &error)) return note_error(report, program, &error);
    dump_facts_read(program->file, &module->arena, &module->dump);
    return true;
}

void report_module_free(struct report_module *module) {
    arena_free(&module->arena);
}

// --- Its memory spaces ---

static bool is_wanted(const struct report_options *options, int64_t space, int64_t total_bytes,
                      int64_t thread_local_bytes) {
    if (options->space != REPORT_ALL) return space == options->space;
    return total_bytes != 0 || thread_local_bytes != 0;
}

void report_module_summaries(struct report *report, struct report_module *module, struct memory_summary_list *list) {
    struct error error;
    size_t kept = 0;
    if (!memory_summaries(&module->module, &module->arena, list, &error)) note_error(report, module->program, &error);
    for (size_t i = 0; i < list->count; i++) {
        const struct memory_summary *summary = &list->summaries[i];
        if (is_wanted(&report->options, summary->space, summary->total_bytes, summary->thread_local_bytes))
            list->summaries[kept++] = *summary;
    }
    list->count = kept;
}

void report_module_spaces(struct report *report, struct report_module *module, struct memory_totals_list *list) {
    struct error error;
    size_t kept = 0;
    if (!memory_totals_list(&module->module, &module->arena, list, &error)) note_error(report, module->program, &error);
    for (size_t i = 0; i < list->space_count; i++) {
        const struct memory_totals *totals = &list->spaces[i];
        if (is_wanted(&report->options, totals->space, totals->total_bytes, totals->bytes[ALLOCATION_THREAD_LOCAL]))
            list->spaces[kept++] = *totals;
    }
    list->space_count = kept;
}

// --- One memory space ---

// XProf's view of the same serves the notes only.
static bool make_notes(const struct report_module *module, int64_t space, struct arena *arena,
                       struct report_space *made) {
    struct memory_view *xprof = arena_new(arena, struct memory_view, 1);
    struct error reason;
    struct memory_view_document document = {.view = made->view, .xprof = xprof, .dump = module->dump};
    if (!xprof) return false;
    if (!memory_view_build(&module->module, space, MEMORY_VIEW_AS_XPROF, arena, xprof, &reason)) {
        document.xprof = NULL;
        document.xprof_reason = reason.message;
    }
    memory_view_notes_make(&document, arena, &made->notes);
    return true;
}

bool report_space_build(struct report *report, struct report_module *module, int64_t space, struct report_space *made) {
    struct arena *arena = &module->arena;
    struct error error;
    struct memory_view *view = arena_new(arena, struct memory_view, 1);
    *made = (struct report_space){.view = view};
    error_set(&error, ERROR_TOO_BIG, "There is not enough memory for this module.");
    if (!view) return note_error(report, module->program, &error);
    if (!memory_view_build(&module->module, space, MEMORY_VIEW_EXACT, arena, view, &error))
        return note_error(report, module->program, &error);
    bool has_notes = report->options.format == FORMAT_CSV || make_notes(module, space, arena, made);
    bool has_kinds = report->options.format == FORMAT_TEXT || report->options.format == FORMAT_MARKDOWN;
    uint32_t most = has_kinds ? view->at_peak_count : report_at_most(view->at_peak_count, report->options.top);
    return (has_notes && peak_summary_make(view, most, arena, &made->peak) &&
            buffer_describer_init(&made->describer, &module->module, MEMORY_VIEW_EXACT, arena)) ||
           note_error(report, module->program, &error);
}

// --- Groups ---

static bool read_sources(const struct report *report, struct report_module *module, struct error *error) {
    if (module->sources) return true;
    struct buffer_sources *sources = arena_new(&module->arena, struct buffer_sources, 1);
    if (!sources) return error_set(error, ERROR_TOO_BIG, "There is not enough memory for this module.");
    if (!buffer_sources_read(&module->module, report->options.frameworks, &module->arena, sources, error)) return false;
    module->sources = sources;
    return true;
}

bool report_groups_make(struct report *report, struct report_module *module, const struct memory_view *view,
                        struct report_groups *made) {
    struct error error;
    struct arena *arena = &module->arena;
    uint32_t step;
    if (!memory_groups_step(view, report->options.step, &step, &error) || !read_sources(report, module, &error) ||
        !memory_grouping_make(view, module->sources, (enum memory_group_by)report->options.by, arena, &made->grouping,
                              &error) ||
        !memory_groups_at(&made->grouping, step, arena, &made->groups, &error))
        return note_error(report, module->program, &error);
    memory_groups_weigh(&made->groups, (enum memory_group_weight)report->options.weight);
    made->shown_count = report_at_most(made->groups.row_count, report->options.top);
    return true;
}

// --- One buffer ---

struct report_buffer report_buffer_read(struct report_space *space, size_t i) {
    const struct memory_view *view = space->view;
    const struct memory_buffer *row = &view->rows[space->peak.largest[i]];
    struct report_buffer buffer = {
        .row = *row, .category = allocation_category_name(row->category), .logical_buffer_id = -1};
    buffer.words = buffer_describe(&space->describer, row->buffer);
    if (row->buffer != HLO_NONE) buffer.logical_buffer_id = view->module->buffers[row->buffer].id;
    buffer.source = buffer_source_text(&buffer.words, space->describer.arena);
    return buffer;
}
