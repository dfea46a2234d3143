#include "analysis/groups/memory_grouping.h"

#include "analysis/base/text_writer.h"
#include "analysis/groups/argument_path.h"
#include "analysis/memory/buffer_description.h"
#include "analysis/program/op_name.h"

const struct bytes MEMORY_GROUP_UNKNOWN = {(const uint8_t *)"(unknown)", sizeof "(unknown)" - 1};

const char *memory_group_by_name(enum memory_group_by by) {
    static const char *const names[GROUP_BY_COUNT] = {
        [GROUP_BY_SOURCE] = "source",     [GROUP_BY_STACK] = "stack", [GROUP_BY_SCOPE] = "scope",
        [GROUP_BY_ARGUMENT] = "argument", [GROUP_BY_PHASE] = "phase", [GROUP_BY_CATEGORY] = "category",
        [GROUP_BY_DTYPE] = "dtype",       [GROUP_BY_SHAPE] = "shape", [GROUP_BY_OPCODE] = "opcode",
    };
    return names[by];
}

bool memory_group_by_of(const char *name, enum memory_group_by *by) {
    for (int i = 0; i < GROUP_BY_COUNT; i++) {
        *by = (enum memory_group_by)i;
        if (strcmp(memory_group_by_name(*by), name) == 0) return true;
    }
    return false;
}

struct maker {
    struct memory_grouping *grouping;
    const struct buffer_sources *sources;
    struct arena *arena;
    struct buffer_describer shapes;  // for GROUP_BY_DTYPE and GROUP_BY_SHAPE
};

typedef struct bytes key_of(struct maker *m, const struct memory_buffer *row);

// --- Sources ---

static struct bytes root_of(struct maker *m, uint32_t parameter) {
    return argument_path_root(buffer_source_argument(m->sources, parameter), m->arena);
}

static struct bytes line_key(struct maker *m, const struct memory_buffer *row) {
    struct leaf_origin origin = buffer_source_of(m->sources, &m->sources->lines, row);
    if (origin.node == HLO_NONE) return (struct bytes){0};
    if (buffer_source_is_argument(m->sources, origin)) return root_of(m, origin.node);
    return buffer_source_line(m->sources, origin.node, m->arena);
}

static struct bytes name_key(struct maker *m, const struct memory_buffer *row, bool has_stars) {
    struct leaf_origin origin = buffer_source_of(m->sources, &m->sources->names, row);
    if (origin.node == HLO_NONE) return (struct bytes){0};
    if (buffer_source_is_argument(m->sources, origin)) return root_of(m, origin.node);
    return op_name_scope(m->sources->graph.nodes[origin.node].op_name, has_stars, m->arena);
}

static struct bytes starred_key(struct maker *m, const struct memory_buffer *row) {
    return name_key(m, row, true);
}

static struct bytes scope_key(struct maker *m, const struct memory_buffer *row) {
    return name_key(m, row, false);
}

static struct bytes stack_key(struct maker *m, const struct memory_buffer *row) {
    struct leaf_origin origin = buffer_source_of(m->sources, &m->sources->lines, row);
    if (origin.node == HLO_NONE) return (struct bytes){0};
    if (buffer_source_is_argument(m->sources, origin)) return root_of(m, origin.node);
    return buffer_source_stack(m->sources, origin.node, m->arena);
}

static struct bytes argument_key(struct maker *m, const struct memory_buffer *row) {
    struct leaf_origin origin = buffer_source_of(m->sources, &m->sources->lines, row);
    if (buffer_source_is_argument(m->sources, origin)) return buffer_source_argument(m->sources, origin.node);
    return row->category == ALLOCATION_OUTPUT ? BYTES("(output)") : BYTES("(no argument)");
}

// --- What the buffer itself says ---

static struct bytes phase_key(struct maker *m, const struct memory_buffer *row) {
    enum buffer_phase phase = buffer_phase_of(&m->grouping->phases, row).phase;
    return phase == BUFFER_UNKNOWN ? (struct bytes){0} : bytes_of(buffer_phase_name(phase));
}

static struct bytes category_key(struct maker *m, const struct memory_buffer *row) {
    (void)m;
    return bytes_of(allocation_category_name(row->category));
}

static struct hlo_instruction instruction_of(const struct maker *m, const struct memory_buffer *row) {
    const struct hlo_module *module = m->grouping->view->module;
    return row->buffer == HLO_NONE ? (struct hlo_instruction){0}
                                   : hlo_instruction_read(module, module->buffers[row->buffer].instruction);
}

static struct bytes opcode_key(struct maker *m, const struct memory_buffer *row) {
    return instruction_of(m, row).opcode;
}

static struct bytes whole_shape(struct maker *m, const struct memory_buffer *row) {
    struct bytes shape = instruction_of(m, row).shape;
    return shape.size ? buffer_shape_text(&m->shapes, row->buffer, shape) : shape;
}

// f32[8,128]{1,0:T(8,128)} -> f32[8,128]
static struct bytes shape_key(struct maker *m, const struct memory_buffer *row) {
    struct bytes shape = whole_shape(m, row);
    struct text_writer text = {.arena = m->arena};
    while (shape.size) {
        size_t open = bytes_find(shape, BYTES("{")), close = bytes_find(shape, BYTES("}"));
        text_put_bytes(&text, (struct bytes){shape.data, open});
        size_t next = open < shape.size && close < shape.size ? close + 1 : shape.size;
        shape = (struct bytes){shape.data + next, shape.size - next};
    }
    return text_writer_bytes(&text);
}

static struct bytes dtype_key(struct maker *m, const struct memory_buffer *row) {
    struct bytes shape = whole_shape(m, row);
    if (shape.size && shape.data[0] == '(') return BYTES("tuple");
    return (struct bytes){shape.data, bytes_find(shape, BYTES("["))};
}

// --- Keys of all rows ---

static void set_keys(struct maker *m, key_of *key, uint32_t *key_of_row) {
    const struct memory_view *view = m->grouping->view;
    for (uint32_t i = 0; i < view->row_count; i++) {
        struct bytes text = key(m, &view->rows[i]);
        key_of_row[i] = text.size ? string_table_put(&m->grouping->keys, text) : m->grouping->unknown;
    }
}

// Which part of what is computed the largest key holds at the peak.
static double largest_part(const struct maker *m, const uint32_t *key_of_row, int64_t *bytes_of_key) {
    const struct memory_view *view = m->grouping->view;
    double whole = 0, most = 0;
    memset(bytes_of_key, 0, m->grouping->keys.count * sizeof *bytes_of_key);
    for (uint32_t i = 0; i < view->at_peak_count; i++) {
        const struct memory_buffer *row = &view->rows[view->at_peak[i]];
        struct leaf_origin origin = buffer_source_of(m->sources, &m->sources->lines, row);
        if (origin.node == HLO_NONE || buffer_source_is_argument(m->sources, origin)) continue;
        int64_t *bytes = &bytes_of_key[key_of_row[view->at_peak[i]]];
        whole += (double)row->size_bytes;
        if (__builtin_add_overflow(*bytes, row->size_bytes, bytes)) *bytes = INT64_MAX;
        if ((double)*bytes > most) most = (double)*bytes;
    }
    return whole > 0 ? most / whole : 0;
}

static bool set_source_keys(struct maker *m) {
    struct memory_grouping *grouping = m->grouping;
    uint32_t *names = arena_push_raw(m->arena, grouping->view->row_count, sizeof *names);
    if (!names) return false;
    set_keys(m, line_key, grouping->key_of_row);
    set_keys(m, starred_key, names);
    int64_t *bytes = arena_push_raw(m->arena, grouping->keys.count, sizeof *bytes);
    if (!bytes) return false;
    double by_lines = largest_part(m, grouping->key_of_row, bytes), by_names = largest_part(m, names, bytes);
    grouping->line_share = by_lines;
    if (by_lines <= GROUP_RULE_LINE_MOST || by_names >= by_lines) return true;
    grouping->rule = GROUP_RULE_NAMES;
    grouping->key_of_row = names;
    return true;
}

static bool set_all_keys(struct maker *m) {
    static key_of *const keys[GROUP_BY_COUNT] = {
        [GROUP_BY_STACK] = stack_key, [GROUP_BY_SCOPE] = scope_key,       [GROUP_BY_ARGUMENT] = argument_key,
        [GROUP_BY_PHASE] = phase_key, [GROUP_BY_CATEGORY] = category_key, [GROUP_BY_DTYPE] = dtype_key,
        [GROUP_BY_SHAPE] = shape_key, [GROUP_BY_OPCODE] = opcode_key,
    };
    enum memory_group_by by = m->grouping->by;
    const struct memory_view *view = m->grouping->view;
    bool has_phases = by != GROUP_BY_PHASE ||
                      buffer_phases_find(m->sources, &view->replay, m->arena, &m->grouping->phases);
    bool has_shapes = (by != GROUP_BY_SHAPE && by != GROUP_BY_DTYPE) ||
                      buffer_describer_init(&m->shapes, view->module, MEMORY_VIEW_EXACT, m->arena);
    if (!has_phases || !has_shapes) return false;
    if (by == GROUP_BY_SOURCE) return set_source_keys(m);
    set_keys(m, keys[by], m->grouping->key_of_row);
    return true;
}

static bool begin(struct maker *m, const struct memory_view *view, enum memory_group_by by) {
    struct memory_grouping *grouping = m->grouping;
    *grouping = (struct memory_grouping){.view = view, .by = by, .rule = GROUP_RULE_LINES};
    grouping->key_of_row = arena_push_raw(m->arena, view->row_count, sizeof *grouping->key_of_row);
    if (!grouping->key_of_row || !string_table_init(&grouping->keys, m->arena)) return false;
    grouping->unknown = string_table_put(&grouping->keys, MEMORY_GROUP_UNKNOWN);
    return true;
}

static bool end(const struct maker *m, bool has_keys, struct error *error) {
    if (has_keys && !m->grouping->keys.has_failed) return true;
    return error_set(error, ERROR_TOO_BIG, "no memory left to group the buffers of this program");
}

bool memory_grouping_make(const struct memory_view *view, const struct buffer_sources *sources, enum memory_group_by by,
                          struct arena *arena, struct memory_grouping *grouping, struct error *error) {
    struct maker m = {.grouping = grouping, .sources = sources, .arena = arena};
    return end(&m, begin(&m, view, by) && set_all_keys(&m), error);
}

bool memory_grouping_make_by_names(const struct memory_view *view, const struct buffer_sources *sources,
                                   struct arena *arena, struct memory_grouping *grouping, struct error *error) {
    struct maker m = {.grouping = grouping, .sources = sources, .arena = arena};
    bool has_begun = begin(&m, view, GROUP_BY_SOURCE);
    if (has_begun) set_keys(&m, starred_key, grouping->key_of_row);
    grouping->rule = GROUP_RULE_NAMES;
    return end(&m, has_begun, error);
}
