#include "analysis/groups/buffer_sources.h"

#include "analysis/base/text_writer.h"
#include "analysis/groups/frameworks.h"
#include "analysis/groups/short_paths.h"

static struct hlo_metadata metadata_of(const struct hlo_module *module, uint32_t node) {
    return hlo_instruction_metadata(module, node, hlo_instruction_read(module, node).metadata);
}

static bool is_entry_parameter(const struct program_graph *graph, uint32_t node) {
    return graph->nodes[node].opcode == OPCODE_PARAMETER && graph->nodes[node].computation == graph->entry;
}

static bool find_origins(struct buffer_sources *sources, struct arena *arena) {
    const struct program_graph *graph = &sources->graph;
    uint8_t *has_lines = arena_push_raw(arena, graph->node_count, 1);
    uint8_t *has_names = arena_push_raw(arena, graph->node_count, 1);
    if (!has_lines || !has_names) return false;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct hlo_metadata metadata = metadata_of(graph->module, i);
        bool is_argument = is_entry_parameter(graph, i);
        has_lines[i] = is_argument || stack_trace_place(graph->module, &metadata).file.size > 0;
        has_names[i] = is_argument || metadata.op_name.size > 0;
        string_table_put(&sources->files, metadata.source_file);
    }
    return leaf_origins_find(graph, has_lines, arena, &sources->lines) &&
           leaf_origins_find(graph, has_names, arena, &sources->names);
}

static bool judge_files(struct buffer_sources *sources, const char *frameworks, struct arena *arena) {
    const struct hlo_module *module = sources->graph.module;
    struct string_table *files = &sources->files;
    for (uint32_t i = 0; i < module->file_name_count; i++) string_table_put(files, module->file_names[i]);
    sources->is_reader_file = arena_push_raw(arena, files->count, 1);
    if (files->has_failed || !sources->is_reader_file ||
        !short_paths_make(files->texts, files->count, arena, &sources->file_names))
        return false;
    for (uint32_t i = 0; i < files->count; i++)
        sources->is_reader_file[i] = files->texts[i].size > 0 && !frameworks_have(frameworks, files->texts[i]);
    return true;
}

bool buffer_sources_read(const struct hlo_module *module, const char *frameworks, struct arena *arena,
                         struct buffer_sources *sources, struct error *error) {
    *sources = (struct buffer_sources){0};
    if (!program_graph_read(module, arena, &sources->graph, error)) return false;
    if (string_table_init(&sources->files, arena) && find_origins(sources, arena) &&
        judge_files(sources, frameworks, arena))
        return true;
    return error_set(error, ERROR_TOO_BIG, "no memory left to follow the program's arrays to their sources");
}

// --- Of a row ---

static uint32_t parameter_of(const struct buffer_sources *sources, const struct memory_buffer *row) {
    const struct program_graph *graph = &sources->graph;
    bool is_one = row->category == ALLOCATION_PARAMETER || row->category == ALLOCATION_DONATED;
    if (!is_one || row->allocation == HLO_NONE || graph->entry == HLO_NONE) return HLO_NONE;
    int64_t number = graph->module->allocations[row->allocation].parameter_number;
    return number < 0 || number > UINT32_MAX ? HLO_NONE : graph_parameter(graph, graph->entry, (uint32_t)number);
}

struct leaf_origin buffer_source_of(const struct buffer_sources *sources, const struct leaf_origins *origins,
                                    const struct memory_buffer *row) {
    const struct program_graph *graph = &sources->graph;
    uint32_t parameter = parameter_of(sources, row);
    if (parameter != HLO_NONE) return (struct leaf_origin){parameter, ORIGIN_OWN, 0};
    if (row->buffer == HLO_NONE || graph->module->buffers[row->buffer].instruction == HLO_NONE)
        return (struct leaf_origin){HLO_NONE, ORIGIN_NONE, 0};
    uint32_t leaf = graph->leaf_of_buffer[row->buffer];
    struct leaf_origin origin = origins->of_node[graph->module->buffers[row->buffer].instruction];
    return leaf != HLO_NONE && origins->of_leaf[leaf].way != ORIGIN_NONE ? origins->of_leaf[leaf] : origin;
}

bool buffer_source_is_argument(const struct buffer_sources *sources, struct leaf_origin origin) {
    return origin.node != HLO_NONE && is_entry_parameter(&sources->graph, origin.node);
}

struct bytes buffer_source_argument(const struct buffer_sources *sources, uint32_t parameter) {
    struct bytes path = sources->graph.nodes[parameter].op_name;
    return path.size ? path : hlo_instruction_read(sources->graph.module, parameter).name;
}

// --- Lines ---

// Innermost first: the stack of a node, else its line alone.
static size_t read_frames(const struct buffer_sources *sources, uint32_t node, struct stack_trace_frame *frames) {
    const struct hlo_module *module = sources->graph.module;
    struct hlo_metadata metadata = metadata_of(module, node);
    size_t count = stack_trace_read(module, metadata.stack_frame_id, frames, STACK_TRACE_MAX_FRAMES);
    if (!count && metadata.source_file.size)
        frames[count++] = (struct stack_trace_frame){.file = metadata.source_file, .line = metadata.source_line};
    return count;
}

size_t buffer_source_reader_frame(const struct buffer_sources *sources, const struct stack_trace_frame *frames,
                                  size_t count) {
    size_t at = 0;
    while (at < count && !sources->is_reader_file[string_table_find(&sources->files, frames[at].file)]) at++;
    return at < count ? at : 0;
}

static struct bytes short_name(const struct buffer_sources *sources, struct bytes file) {
    return sources->file_names[string_table_find(&sources->files, file)];
}

static void put_frame(struct bytes file, int32_t line, struct text_writer *text) {
    text_put_bytes(text, file);
    text_put(text, ":");
    text_put_int64(text, line);
}

// The reader's frame of a node; without a file where it tells none.
static struct stack_trace_frame reader_frame(const struct buffer_sources *sources, uint32_t node) {
    struct stack_trace_frame frames[STACK_TRACE_MAX_FRAMES];
    size_t count = read_frames(sources, node, frames);
    return count ? frames[buffer_source_reader_frame(sources, frames, count)] : (struct stack_trace_frame){0};
}

struct bytes buffer_source_line(const struct buffer_sources *sources, uint32_t node, struct arena *arena) {
    struct text_writer text = {.arena = arena};
    struct stack_trace_frame frame = reader_frame(sources, node);
    if (frame.file.size) put_frame(short_name(sources, frame.file), frame.line, &text);
    return text_writer_bytes(&text);
}

struct bytes buffer_source_place(const struct buffer_sources *sources, uint32_t node, struct arena *arena) {
    struct text_writer text = {.arena = arena};
    struct stack_trace_frame frame = reader_frame(sources, node);
    if (frame.file.size) put_frame(frame.file, frame.line, &text);
    return text_writer_bytes(&text);
}

struct bytes buffer_source_stack(const struct buffer_sources *sources, uint32_t node, struct arena *arena) {
    struct stack_trace_frame frames[STACK_TRACE_MAX_FRAMES];
    struct text_writer text = {.arena = arena};
    for (size_t i = read_frames(sources, node, frames); i-- > 0;) {
        if (!frames[i].file.size) continue;
        if (text.size) text_put(&text, ";");
        put_frame(short_name(sources, frames[i].file), frames[i].line, &text);
    }
    return text_writer_bytes(&text);
}
