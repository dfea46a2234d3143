#include "analysis/advice/advisor.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "analysis/advice/loop_steps.h"
#include "analysis/hlo/shape.h"
#include "analysis/memory/memory_view.h"

int64_t *advisor_sizes(struct advisor *advisor) {
    uint32_t count = advisor->module->buffer_count;
    int64_t *sizes = arena_push_raw(advisor->arena, count, sizeof *sizes);
    if (!sizes) {
        error_set(advisor->error, ERROR_TOO_BIG, "no memory left for the sizes of %u buffers", count);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) sizes[i] = advisor->module->buffers[i].size_bytes;
    return sizes;
}

static double bits_of(const struct array_shape *shape) {
    double bits = (double)array_shape_elements(shape) * shape->element_bits;
    return bits > 0 ? bits : 1;
}

// What the compiler pads today though another order of its dimensions would take half as much, it goes on padding.
static bool stays_padded(const struct array_shape *today) {
    int64_t turned = array_shape_bytes_turned(today, 0);
    return turned >= 0 && turned < array_shape_bytes(today) / 2;
}

// The least of the layouts that have been seen: the two most minor dimensions in each other's place (the batch and the
// channels of a convolution, of which either is in the lanes); what got smaller in the sublanes in that of the next
// (examples and places in a sequence). Others do not come there (docs/advice.md).
static int64_t least_bytes(const struct array_shape *before, const struct array_shape *shape) {
    int64_t least = array_shape_bytes(shape), turned = stays_padded(before) ? -1 : array_shape_bytes_turned(shape, 0);
    if (turned >= 0 && turned < least) least = turned;
    int in_sublanes = shape->rank > 2 ? shape->minor_to_major[1] : 0;
    if (shape->rank <= 2 || shape->dimensions[in_sublanes] >= before->dimensions[in_sublanes]) return least;
    turned = array_shape_bytes_turned(shape, 1);
    return turned >= 0 && turned < least ? turned : least;
}

// Where the smaller array pads more than today's, the compiler may lay it out another way.
int64_t advisor_reshaped(const struct advisor *advisor, uint32_t buffer, const struct array_shape *shape) {
    int64_t size = advisor->module->buffers[buffer].size_bytes;
    uint32_t leaf = advisor_leaf(advisor, buffer);
    const struct array_shape *today = leaf == HLO_NONE ? NULL : &advisor->graph.leaves[leaf];
    int64_t before = today ? array_shape_bytes(today) : -1, after = array_shape_bytes(shape);
    if (before <= 0 || after < 0) return size;
    double padding_before = (double)before / bits_of(today);
    if ((double)after / bits_of(shape) > padding_before) after = least_bytes(today, shape);
    return what_if_bytes((double)size * ((double)after / (double)before));
}

struct what_if_result advisor_now(const struct advisor *advisor) {
    const struct what_if *now = &advisor->what_if;
    return (struct what_if_result){.total_bytes = now->total_bytes,
                                   .peak_bytes = now->peak_bytes,
                                   .temporary_bytes = now->temporary_bytes,
                                   .replayed_total_bytes = now->total_bytes,
                                   .replayed_indefinite_bytes = now->indefinite_bytes,
                                   .indefinite_bytes = now->indefinite_bytes};
}

bool advisor_is_weight(const struct advisor *advisor, uint32_t input) {
    const struct entry_input *in = &advisor->roles.inputs[input];
    return in->is_frozen || (in->is_state && in->leaf != HLO_NONE &&
                             advisor->phases.is_read_forward[advisor->graph.node_of_leaf[in->leaf]]);
}

bool advisor_computes_in_bf16(const struct advisor *advisor) {
    for (uint32_t leaf = 0; leaf < advisor->graph.leaf_count; leaf++) {
        if (!advisor->types.cast_copies[leaf] || advisor->graph.leaves[leaf].rank < 2) continue;
        if (type_flow_is_users_conversion(&advisor->graph.nodes[advisor->graph.node_of_leaf[leaf]])) return true;
    }
    return false;
}

bool advisor_is_over_time(const struct advisor *advisor) {
    bool has_stacks = false;
    for (uint32_t leaf = 0; leaf < advisor->graph.leaf_count && !has_stacks; leaf++)
        has_stacks = advisor->batch.marks[leaf] && loop_steps_is_stack(&advisor->steps, leaf);
    for (uint32_t i = 0; i < advisor->roles.input_count && has_stacks; i++) {
        bool is_stacked = loop_steps_is_stack(&advisor->steps, advisor->roles.inputs[i].leaf);
        if (is_stacked && advisor_is_weight(advisor, i)) return false;
    }
    return has_stacks;
}

uint32_t advisor_time_of(const struct advisor *advisor, uint32_t node) {
    enum { NESTED_MAX = 16 };
    for (int depth = 0; node != HLO_NONE && depth < NESTED_MAX; depth++) {
        uint32_t time = advisor->schedule.time_of_node[node];
        if (time != SCHEDULE_NEVER) return time;
        node = advisor->caller[advisor->graph.nodes[node].computation];
    }
    return SCHEDULE_NEVER;
}

static size_t place_of(struct bytes text, struct bytes part) {
    for (size_t i = 0; i + part.size <= text.size; i++) {
        if (memcmp(text.data + i, part.data, part.size) == 0) return i;
    }
    return text.size;
}

bool advisor_is_accumulating(const struct advisor *advisor) {
    const struct program_graph *graph = &advisor->graph;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct bytes name = graph->nodes[i].op_name;
        size_t backward = place_of(name, BYTES("transpose(jvp"));
        if (backward < name.size && place_of(name, BYTES("while/body")) < backward) return true;
    }
    return false;
}

int64_t advisor_trained_bytes(const struct advisor *advisor) {
    double bytes = 0;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        int64_t one = advisor_is_weight(advisor, i) && !advisor->roles.inputs[i].is_frozen
                          ? array_shape_bytes(&advisor->graph.leaves[advisor->roles.inputs[i].leaf])
                          : 0;
        bytes += one > 0 ? (double)one : 0;
    }
    return what_if_bytes(bytes);
}

// Of several tries of one change, the one that saves most is told.
static void keep_told(const struct advisor *advisor, const struct what_if_result *result, enum advice_id id) {
    struct what_if_result *told = &advisor->told[id];
    if (!told->total_bytes || result->total_bytes < told->total_bytes) *told = *result;
}

// What may move between HBM and fast memory when sizes change, as a part of the total: a quarter of what lies there.
// Where there is none, little is known of where the compiler puts things.
static double moving_part(const struct advisor *advisor, int64_t total) {
    const double most = 0.08;
    double fast = (double)advisor->what_if.fast_bytes;
    double part = total > 0 ? fast / 4 / (double)total : most;
    return fast > 0 && part < most ? part : most;
}

// What is left to chance besides the change's own, in parts of the total. Less leaves fast memory than may come there,
// as a change makes arrays smaller. XLA:GPU has no other memory to move to: what it places in outputs leaves half as
// much again, and workspaces of library calls need not shrink with the rest.
static void widen_by_chance(const struct advisor *advisor, int64_t total, double *below, double *above) {
    const double workspaces = 0.035, leaving = 0.6;
    if (*below + *above <= 0) return;
    double moving = moving_part(advisor, total);
    *below += advisor->is_for_gpu ? *below / 2 : moving;
    *above += advisor->is_for_gpu ? *above / 2 : leaving * moving;
    if (advisor->is_for_gpu && *above < workspaces) *above = workspaces;
}

void advisor_set_totals(const struct advisor *advisor, const struct what_if_result *result, double below, double above,
                        struct advice_item *item) {
    int64_t total = result->total_bytes;
    widen_by_chance(advisor, total, &below, &above);
    keep_told(advisor, result, item->id);
    item->predicted_total_bytes = total;
    item->predicted_peak_bytes = result->peak_bytes < total ? result->peak_bytes : total;
    item->predicted_indefinite_bytes = result->indefinite_bytes;
    item->saves_bytes = advisor->what_if.total_bytes - total;
    if (below + above > ADVICE_RANGE_MAX) {
        double scale = ADVICE_RANGE_MAX / (below + above);
        below *= scale;
        above *= scale;
    }
    item->low_bytes = what_if_bytes((double)total * (1 - below)) - result->back_bytes;
    item->high_bytes = what_if_bytes((double)total * (1 + above)) + result->out_bytes;
}

void advice_widen(struct advice_item *item, double below, double above) {
    int64_t low = what_if_bytes((double)item->predicted_total_bytes * (1 - below));
    int64_t high = what_if_bytes((double)item->predicted_total_bytes * (1 + above));
    if (low < item->low_bytes) item->low_bytes = low;
    if (high > item->high_bytes) item->high_bytes = high;
}

void advice_widen_narrowly(struct advice_item *item, double below, double above) {
    const double both = 0.098, total = (double)item->predicted_total_bytes;
    if (total <= 0) return;
    advice_widen(item, fmin(below, both - ((double)item->high_bytes / total - 1)), 0);
    advice_widen(item, 0, fmin(above, both - (1 - (double)item->low_bytes / total)));
}

void advisor_widen_training(const struct advisor *advisor, struct advice_item *item) {
    const double needed = 0.049;
    if (advisor->roles.is_training) advice_widen_narrowly(item, needed, needed);
}

bool advisor_run(struct advisor *advisor, const struct what_if_change *change, struct what_if_result *result) {
    struct arena scratch;
    advisor->reach = advice_reach_join(advisor->reach, advice_reach_of(&advisor->what_if, change));
    arena_init(&scratch, advisor->arena->limit_bytes);
    bool good = what_if_run(&advisor->what_if, change, &scratch, result, advisor->error);
    arena_free(&scratch);
    return good;
}

bool advisor_predict(struct advisor *advisor, const struct what_if_change *change, double below, double above,
                     struct advice_item *item) {
    struct what_if_result result;
    if (!advisor_run(advisor, change, &result)) return false;
    advisor_set_totals(advisor, &result, below, above, item);
    return true;
}

bool advisor_no_use(const struct advisor *advisor, struct advice_item *item, const char *why) {
    struct what_if_result now = advisor_now(advisor);
    item->applies = false;
    advisor_set_totals(advisor, &now, 0, 0, item);
    advice_widen(item, ADVICE_NO_USE_OFF, ADVICE_NO_USE_OFF);
    advisor_say_first(advisor, item, why);
    return true;
}

void advisor_say_first(const struct advisor *advisor, struct advice_item *item, const char *why) {
    const char *text = arena_string(advisor->kept, bytes_of(why));
    if (item->evidence_count == ADVICE_EVIDENCE_MAX) item->evidence_count--;
    for (size_t i = item->evidence_count++; i > 0; i--) item->evidence[i] = item->evidence[i - 1];
    item->evidence[0] = text ? text : "";
}

void advisor_say(const struct advisor *advisor, struct advice_item *item, const char *format, ...) {
    enum { SENTENCE_BYTES = 600 };
    char sentence[SENTENCE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    const char *text = arena_string(advisor->kept, bytes_of(sentence));
    if (text && item->evidence_count < ADVICE_EVIDENCE_MAX) item->evidence[item->evidence_count++] = text;
}

// What only hands an array on: `copy-start.29` says nothing to a reader.
static bool is_handing_on(const struct program_graph *graph, const struct graph_node *node) {
    static const uint32_t opcodes = 1u << OPCODE_TUPLE | 1u << OPCODE_GET_TUPLE_ELEMENT | 1u << OPCODE_WHILE |
                                    1u << OPCODE_BITCAST | 1u << OPCODE_COPY | 1u << OPCODE_COPY_START |
                                    1u << OPCODE_COPY_DONE | 1u << OPCODE_ASYNC_START | 1u << OPCODE_ASYNC_DONE;
    bool is_inner = node->opcode == OPCODE_PARAMETER && node->computation != graph->entry;
    return is_inner || (opcodes >> node->opcode & 1);
}

// An array to be filled by who uses it: zeros, or an allocation. Its own op_name is that of the zeros.
static bool is_empty(const struct program_graph *graph, const struct graph_node *node) {
    uint32_t operand = graph_operand(graph, node, 0);
    if (node->opcode == OPCODE_CUSTOM_CALL) return node->operand_count == 0;
    bool is_of_constant = operand != HLO_NONE && graph->nodes[operand].opcode == OPCODE_CONSTANT;
    return node->opcode == OPCODE_CONSTANT || (node->opcode == OPCODE_BROADCAST && is_of_constant);
}

// Does its op_name tell what its arrays are? Of a fusion of several it is that of one of them.
static bool is_telling(const struct program_graph *graph, const struct graph_node *node) {
    bool has_several = node->opcode == OPCODE_FUSION && node->leaf_count > 1;
    return node->op_name.size && !has_several && !is_handing_on(graph, node) && !is_empty(graph, node);
}

bool advisor_find_origins(struct advisor *advisor) {
    const struct program_graph *graph = &advisor->graph;
    uint8_t *is_told = arena_new(advisor->arena, uint8_t, graph->node_count);
    if (!is_told) return false;
    for (uint32_t i = 0; i < graph->node_count; i++) is_told[i] = is_telling(graph, &graph->nodes[i]);
    return leaf_origins_find(graph, is_told, advisor->arena, &advisor->origins);
}

// "jit(step)/jvp()/exp", or, where nothing tells, the compiler's own "fusion.14".
static struct bytes name_of(const struct advisor *advisor, uint32_t maker) {
    struct bytes op_name = maker == HLO_NONE ? (struct bytes){0} : advisor->graph.nodes[maker].op_name;
    return op_name.size ? op_name : hlo_instruction_read(advisor->module, maker).name;
}

const char *advisor_buffer_text(const struct advisor *advisor, uint32_t buffer) {
    const struct hlo_module *module = advisor->module;
    uint32_t leaf = advisor_leaf(advisor, buffer);
    uint32_t maker = leaf == HLO_NONE ? HLO_NONE : advisor->origins.of_leaf[leaf].node;
    if (maker == HLO_NONE) maker = module->buffers[buffer].instruction;
    struct bytes name = name_of(advisor, maker);
    struct hlo_instruction instruction = hlo_instruction_read(module, maker);
    struct hlo_metadata metadata = hlo_instruction_metadata(module, maker, instruction.metadata);
    const char *shape = shape_text(memory_view_shape(module, buffer, MEMORY_VIEW_EXACT), advisor->arena);
    const char *where = "";
    if (metadata.source_file.size)
        where = arena_printf(advisor->arena, ", %.*s:%d", (int)metadata.source_file.size,
                             (const char *)metadata.source_file.data, metadata.source_line);
    const char *text = arena_printf(advisor->arena, "%.*s %s%s", (int)name.size, (const char *)name.data,
                                    shape ? shape : "", where ? where : "");
    return text ? text : "";
}
