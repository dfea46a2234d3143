#include "server/xprof/xprof_words.h"

#include "analysis/base/text_writer.h"
#include "analysis/hlo/stack_trace.h"

bool xprof_words_init(struct xprof_words *words, const struct memory_view *view, struct arena *arena) {
    words->last_source_of_frame = arena_new(arena, struct xprof_source, (size_t)view->module->stack_frame_count + 1);
    words->rows = arena_push_raw(arena, view->row_count, sizeof *words->rows);
    if (!words->last_source_of_frame || !words->rows ||
        !buffer_describer_init(&words->describer, view->module, view->scope, arena)) {
        return false;
    }
    for (uint32_t i = 0; i < view->row_count; i++) {
        words->rows[i] = buffer_describe(&words->describer, view->rows[i].buffer);
    }
    return true;
}

static struct bytes stack_text(const struct xprof_words *words, int32_t stack_frame_id) {
    struct stack_trace_frame frames[STACK_TRACE_MAX_FRAMES];
    struct text_writer text = {.arena = words->describer.arena};
    size_t count = stack_trace_read(words->describer.module, stack_frame_id, frames, STACK_TRACE_MAX_FRAMES);
    for (size_t i = 0; i < count; i++) {
        if (i) text_put(&text, "\n");
        text_put_bytes(&text, frames[i].file);
        text_put(&text, ":");
        text_put_int64(&text, frames[i].line);
        text_put(&text, ":");
        text_put_int64(&text, frames[i].column);
    }
    return text_writer_bytes(&text);
}

static void write_source(const struct buffer_description *buffer, struct bytes stack, struct json_writer *w) {
    json_open_object(w);
    xprof_string_key(w, "fileName", buffer->source_file);
    xprof_int64_key(w, "lineNumber", buffer->source_line);
    xprof_string_key(w, "stackFrame", stack);
    json_close_object(w);
}

void xprof_write_source(struct xprof_words *words, const struct buffer_description *buffer, struct json_writer *w) {
    bool has_stack = buffer->stack_frame_id >= 1 &&
                     (uint32_t)buffer->stack_frame_id <= words->describer.module->stack_frame_count;
    struct xprof_source *source = &words->last_source_of_frame[has_stack ? buffer->stack_frame_id : 0];
    if (!has_stack && !buffer->source_file.size) return;
    json_key(w, "sourceInfo");
    if (source->written.size && source->line == buffer->source_line && bytes_equal(source->file, buffer->source_file)) {
        json_write_again(w, source->written);
        return;
    }
    *source = (struct xprof_source){buffer->source_file, buffer->source_line, json_part_begin(w)};
    write_source(buffer, has_stack ? stack_text(words, buffer->stack_frame_id) : (struct bytes){0}, w);
    json_part_end(w, &source->written);
}

struct bytes xprof_label(const struct buffer_description *buffer, struct arena *arena) {
    struct text_writer text = {.arena = arena};
    text_put_bytes(&text, buffer->instruction);
    text_put(&text, ": ");
    text_put_bytes(&text, buffer->shape);
    text_put(&text, " # ");
    text_put_bytes(&text, buffer->op_name);
    return text_writer_bytes(&text);
}

const char *xprof_category(enum allocation_category category) {
    static const char *const names[ALLOCATION_CATEGORY_COUNT] = {
        [ALLOCATION_PARAMETER] = "Parameter", [ALLOCATION_DONATED] = "Parameter",
        [ALLOCATION_OUTPUT] = "Output",       [ALLOCATION_CONSTANT] = "Constant",
        [ALLOCATION_TEMPORARY] = "Temporary", [ALLOCATION_THREAD_LOCAL] = "Thread-local",
    };
    return names[category];
}

void xprof_string_key(struct json_writer *w, const char *key, struct bytes text) {
    if (text.size) json_write_string_key(w, key, text);
}

void xprof_int64_key(struct json_writer *w, const char *key, int64_t value) {
    if (value) json_write_int64_key(w, key, value);
}

void xprof_mib_key(struct json_writer *w, const char *key, int64_t bytes) {
    if (bytes) json_write_mib_key(w, key, bytes);
}
