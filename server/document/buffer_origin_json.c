#include "server/document/buffer_origin_json.h"

#include "analysis/groups/frameworks.h"

static const struct hlo_module *module_of(const struct buffer_origins *o) {
    return o->sources.graph.module;
}

static struct bytes name_of(const struct buffer_origins *o, uint32_t node) {
    return node == HLO_NONE ? (struct bytes){0} : hlo_instruction_read(module_of(o), node).name;
}

static const char *frame_text(const struct stack_trace_frame *frame, struct arena *arena) {
    return arena_printf(arena, "%.*s:%d:%d%s%.*s", (int)frame->file.size, (const char *)frame->file.data, frame->line,
                        frame->column, frame->function.size ? " " : "", (int)frame->function.size,
                        (const char *)frame->function.data);
}

// --- Source ---

static void write_from(const struct buffer_origins *o, struct leaf_origin told, struct json_writer *w) {
    static const char *const ways[] = {[ORIGIN_OPERAND] = "operand", [ORIGIN_USER] = "user"};
    json_key(w, "source_from");
    if (told.way != ORIGIN_OPERAND && told.way != ORIGIN_USER) {
        json_write_null(w);
        return;
    }
    json_open_object(w);
    json_write_text_key(w, "way", ways[told.way]);
    json_write_string_key(w, "instruction", name_of(o, told.node));
    json_write_int64_key(w, "links", told.links);
    json_close_object(w);
}

static struct hlo_metadata metadata_of(const struct buffer_origins *o, uint32_t node) {
    return hlo_instruction_metadata(module_of(o), node, hlo_instruction_read(module_of(o), node).metadata);
}

static void write_stack(const struct buffer_origins *o, const struct hlo_metadata *metadata, struct json_writer *w) {
    struct stack_trace_frame frames[STACK_TRACE_MAX_FRAMES];
    size_t count = stack_trace_read(module_of(o), metadata->stack_frame_id, frames, STACK_TRACE_MAX_FRAMES);
    size_t reader = buffer_source_reader_frame(&o->sources, frames, count);
    json_open_array_key(w, "stack");
    for (size_t i = 0; i < count; i++) json_write_text(w, frame_text(&frames[i], o->arena));
    json_close_array(w);
    json_write_known_key(w, "reader_frame", count > 0, (int64_t)reader);
}

static void write_place(const struct buffer_origins *o, uint32_t node, struct json_writer *w) {
    struct hlo_metadata metadata = node == HLO_NONE ? (struct hlo_metadata){0} : metadata_of(o, node);
    struct stack_trace_frame place = stack_trace_place(module_of(o), &metadata);
    const char *text = place.file.size ? arena_printf(o->arena, "%.*s:%d", (int)place.file.size,
                                                      (const char *)place.file.data, place.line)
                                       : "";
    json_write_text_key(w, "source", text);
    write_stack(o, &metadata, w);
}

// What the operation itself names comes first, as in XProf.
static bool tells_itself(const struct buffer_origins *o, uint32_t node) {
    if (node == HLO_NONE) return false;
    struct hlo_metadata metadata = metadata_of(o, node);
    return stack_trace_place(module_of(o), &metadata).file.size > 0;
}

static void write_source(const struct buffer_origins *o, const struct memory_buffer *row, struct json_writer *w) {
    struct leaf_origin told = buffer_source_of(&o->sources, &o->sources.lines, row);
    bool is_argument = buffer_source_is_argument(&o->sources, told);
    uint32_t own = module_of(o)->buffers[row->buffer].instruction;
    bool is_own = tells_itself(o, own);
    write_place(o, is_own ? own : told.node, w);
    write_from(o, is_own ? (struct leaf_origin){own, ORIGIN_OWN, 0} : told, w);
    json_write_string_key(
        w, "line", told.node == HLO_NONE ? (struct bytes){0} : buffer_source_line(&o->sources, told.node, o->arena));
    json_key(w, "argument");
    if (is_argument)
        json_write_string(w, buffer_source_argument(&o->sources, told.node));
    else
        json_write_null(w);
}

// --- Phase ---

static void write_phase(const struct buffer_origins *o, const struct memory_buffer *row, struct json_writer *w) {
    struct buffer_phase_told told = buffer_phase_of(&o->phases, row);
    json_open_object_key(w, "phase");
    json_write_text_key(w, "name", buffer_phase_name(told.phase));
    json_write_text_key(w, "rule", buffer_phase_rule_name(told.rule));
    json_write_string_key(w, "evidence", name_of(o, told.evidence));
    json_close_object(w);
}

bool buffer_origins_read(const struct memory_view *view, struct arena *arena, struct buffer_origins *origins,
                         struct error *error) {
    origins->arena = arena;
    if (!buffer_sources_read(view->module, FRAMEWORKS_DEFAULT, arena, &origins->sources, error)) return false;
    return buffer_phases_find(&origins->sources, &view->replay, arena, &origins->phases) ||
           error_set(error, ERROR_TOO_BIG, "no memory left to follow the program's arrays to their sources");
}

void buffer_origin_json_write(const struct buffer_origins *origins, const struct memory_buffer *row,
                              struct json_writer *w) {
    write_source(origins, row, w);
    write_phase(origins, row, w);
}
