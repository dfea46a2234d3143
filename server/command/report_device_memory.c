#include "server/command/report_device_memory.h"

#include "analysis/base/text_writer.h"
#include "analysis/base/growing_array.h"
#include "server/command/report_across.h"
#include "server/command/report_device_memory_text.h"
#include "server/document/device_memory_json.h"
#include "server/text/printable.h"

// --- Finding them ---

static void find_in(struct report_device_memory *found, const struct catalog_session *session) {
    struct arena *arena = &found->report->work.arena;
    const char *asked = found->report->options.session;
    struct session_files *files = arena_new(arena, struct session_files, 1);
    struct error error;
    if (asked && strcmp(session->name, asked) != 0) return;
    if (!files) return;
    if (!session_files_list(&session->place, SESSION_DEVICE_MEMORY, arena, files, &error))
        return report_errors_add(&found->report->errors, &error);
    for (size_t i = 0; i < files->file_count; i++) {
        struct report_device_memory_file file = {printable_text(bytes_of(session->name), arena), &files->files[i]};
        if (!growing_array_add(arena, found->files, found->file_count, file)) return;
    }
}

static bool has_wanted_session(const struct report *report) {
    const struct catalog *catalog = &report->catalog;
    return report->session_count || (!report->options.session && catalog->left_out_count);
}

void report_device_memory_find(struct report_device_memory *found) {
    const struct report_options *options = &found->report->options;
    const struct catalog *catalog = &found->report->catalog;
    if (options->module || options->space != REPORT_ALL) return;
    for (size_t i = 0; i < catalog->device_memory_count; i++) find_in(found, &catalog->device_memory[i]);
    found->is_all = found->file_count > 0 && !has_wanted_session(found->report);
    for (size_t i = 0; i < catalog->session_count; i++) {
        if (catalog->sessions[i].may_hold_device_memory) find_in(found, &catalog->sessions[i]);
    }
}

// The end of the files of one session, which are side by side.
static size_t session_end(const struct report_device_memory *found, size_t first) {
    size_t end = first + 1;
    while (end < found->file_count && strcmp(found->files[end].session, found->files[first].session) == 0) end++;
    return end;
}

// --- One of them ---

struct opened {
    struct work work;
    const struct device_memory_profile *profile;
    struct device_memory_tree tree;  // of the user's own frames
};

// Into what is compared, where that is told. False: the error is among the report's. Close it in either case.
static bool open_file(const struct report_device_memory *found, size_t i, struct report_across *across,
                      struct opened *opened) {
    const struct input_file *file = found->files[i].file;
    struct error error = {.code = ERROR_NONE};
    work_init_for(&opened->work, &found->report->work);
    opened->profile = device_memory_store_load(&opened->work, file, &error);
    if (across) report_across_take_device_memory(across, file->name, opened->profile, &error);
    if (opened->profile &&
        device_memory_tree_build(opened->profile, DEVICE_MEMORY_OWN_FRAMES, &opened->work.arena, &opened->tree, &error))
        return true;
    return report_errors_add_in(&found->report->errors, &error, file->path, 0);
}

static void close_file(struct opened *opened) {
    work_free(&opened->work);
}

// --- Text ---

// What is told of one file, in `output`.
static void write_file(const struct report_device_memory *found, size_t i, struct report_across *across,
                       struct output *output) {
    struct opened opened;
    if (open_file(found, i, across, &opened)) {
        struct page page = report_page_on(found->report, output, &opened.work.arena);
        report_device_memory_text(found->files[i].session, found->files[i].file->name, opened.profile, &opened.tree,
                                  found->report->options.top, &page);
    }
    close_file(&opened);
}

// The comparison stands before the files, which are read once: so these wait in `details`.
static void write_session(const struct report_device_memory *found, size_t first, size_t end, struct page *page) {
    struct report *report = found->report;
    struct report_across across;
    struct output details;
    size_t *ends = arena_new(page->arena, size_t, end - first + 1);
    if (!report_across_begin(&across, report, end - first) || !ends) return;
    output_init(&details, OUTPUT_LIMIT_BYTES);
    for (size_t i = first; i < end; i++) {
        progress_step(report->options.progress, "file", i + 1, found->file_count);
        write_file(found, i, &across, &details);
        ends[i - first + 1] = details.size;
    }
    report_across_compare(&across);
    report_across_text(&across, found->files[first].session, "file", "Give the path of another to see it.", page);
    for (size_t i = 0; i < end - first; i++) {
        size_t size = ends[i + 1] - ends[i];
        if (size == 0 || !report_across_is_whole(&across, i)) continue;
        page_begin_part(page);
        output_append(page->output, (struct bytes){(const uint8_t *)details.data + ends[i], size});
    }
    output_free(&details);
}

void report_device_memory_write_text(const struct report_device_memory *found) {
    struct report *report = found->report;
    struct page page = report_page_on(report, &report->sink.output, &report->work.arena);
    page.has_begun = !found->is_all;
    for (size_t i = 0, end; i < found->file_count && report_sink_is_open(&report->sink); i = end) {
        end = session_end(found, i);
        write_session(found, i, end, &page);
        report_sink_drain(&report->sink);
    }
}

// --- JSON ---

static const struct field function_fields[] = {
    FIELD("function", struct device_memory_function, name),
    FIELD("file", struct device_memory_function, file),
    FIELD_END,
};

static void write_frame(const struct device_memory_profile *profile, uint32_t index, struct json_writer *w) {
    const struct device_memory_frame *frame = &profile->frames[index];
    json_open_object(w);
    fields_write(w, function_fields, &profile->functions[frame->function]);
    json_write_int64_key(w, "line", frame->line);
    json_close_object(w);
}

// What it is of and what it holds, as a group of its own.
static struct device_memory_group group_of(const struct device_memory_profile *profile,
                                           const struct device_memory_sample *sample) {
    const struct device_memory_group *group = &profile->groups[sample->group];
    return (struct device_memory_group){group->kind, group->device, sample->bytes, sample->count};
}

static void write_sample(const struct device_memory_profile *profile, const struct device_memory_sample *sample,
                         struct json_writer *w) {
    struct device_memory_group group = group_of(profile, sample);
    json_open_object(w);
    fields_write(w, device_memory_group_fields, &group);
    json_open_array_key(w, "stack");
    for (uint32_t i = 0; i < sample->depth; i++) write_frame(profile, profile->stacks[sample->first + i], w);
    json_close_array(w);
    json_close_object(w);
}

static void write_functions(const struct opened *opened, int top, struct json_writer *w) {
    json_open_array_key(w, "own_functions");
    for (uint32_t i = 0; i < report_at_most(opened->tree.top_count, top); i++) {
        const struct device_memory_top *row = &opened->tree.top[i];
        json_open_object(w);
        fields_write(w, function_fields, &opened->profile->functions[row->function]);
        fields_write(w, device_memory_figure_fields, &row->figures);
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_profile(const struct report_device_memory *found, size_t i, struct report_across *across,
                          struct json_writer *w) {
    struct opened opened;
    if (open_file(found, i, across, &opened)) {
        json_open_object(w);
        json_write_text_key(w, "session", found->files[i].session);
        json_write_text_key(w, "file", found->files[i].file->name);
        device_memory_totals_write(opened.profile, w);
        write_functions(&opened, found->report->options.top, w);
        json_open_array_key(w, "samples");
        for (uint32_t k = 0; k < opened.profile->sample_count; k++)
            write_sample(opened.profile, &opened.profile->samples[k], w);
        json_close_array(w);
        json_close_object(w);
    }
    close_file(&opened);
}

struct compared {
    const char *session;
    struct report_across across;
};

static void write_compared(const struct compared *compared, size_t count, struct json_writer *w) {
    if (count) json_open_array_key(w, "device_memory_across");
    for (size_t i = 0; i < count; i++) {
        json_open_object(w);
        json_write_text_key(w, "session", compared[i].session);
        report_across_json(&compared[i].across, w);
        json_close_object(w);
    }
    if (count) json_close_array(w);
}

static void write_session_profiles(const struct report_device_memory *found, size_t first, size_t end,
                                   struct compared *compared, struct json_writer *w) {
    bool is_good = report_across_begin(&compared->across, found->report, end - first);
    compared->session = found->files[first].session;
    for (size_t i = first; i < end; i++) write_profile(found, i, is_good ? &compared->across : NULL, w);
    report_across_compare(&compared->across);
}

void report_device_memory_write_json(const struct report_device_memory *found, struct json_writer *w) {
    struct compared *compared = arena_new(&found->report->work.arena, struct compared, found->file_count + 1);
    size_t count = 0;
    if (found->file_count == 0 || !compared) return;
    json_open_array_key(w, "device_memory");
    for (size_t i = 0, end; i < found->file_count; i = end) {
        end = session_end(found, i);
        write_session_profiles(found, i, end, &compared[count], w);
        count += compared[count].across.has_any;
    }
    json_close_array(w);
    write_compared(compared, count, w);
}

// --- CSV ---

// "main (/u/train.py:41);make_batch (/u/train.py:12)": outermost frame first.
static struct bytes stack_text(const struct device_memory_profile *profile, const struct device_memory_sample *sample,
                               struct arena *arena) {
    struct text_writer text = {.arena = arena};
    for (uint32_t i = 0; i < sample->depth; i++) {
        const struct device_memory_frame *frame = &profile->frames[profile->stacks[sample->first + i]];
        const struct device_memory_function *function = &profile->functions[frame->function];
        if (i) text_put(&text, ";");
        text_put_bytes(&text, function->name);
        text_put(&text, " (");
        text_put_bytes(&text, function->file);
        text_put(&text, ":");
        text_put_int64(&text, frame->line);
        text_put(&text, ")");
    }
    return text_writer_bytes(&text);
}

static void write_row(const struct report_device_memory_file *file, const struct device_memory_profile *profile,
                      const struct device_memory_sample *sample, struct arena *arena, struct output *output) {
    struct device_memory_group group = group_of(profile, sample);
    struct csv_row csv = {.output = output};
    csv_put_text(&csv, bytes_of(file->session));
    csv_put_text(&csv, bytes_of(file->file->name));
    fields_write_csv(&csv, device_memory_group_fields, &group);
    csv_put_text(&csv, stack_text(profile, sample, arena));
    csv_end_row(&csv);
}

void report_device_memory_write_csv(const struct report_device_memory *found) {
    struct report_sink *sink = &found->report->sink;
    output_append(&sink->output, BYTES("session,file,kind,device,bytes,count,stack\n"));
    for (size_t i = 0; i < found->file_count && report_sink_is_open(sink); i++) {
        struct opened opened;
        bool is_good = open_file(found, i, NULL, &opened);
        for (uint32_t k = 0; is_good && k < opened.profile->sample_count; k++) {
            write_row(&found->files[i], opened.profile, &opened.profile->samples[k], &opened.work.arena, &sink->output);
            report_sink_drain(sink);
        }
        close_file(&opened);
    }
}
