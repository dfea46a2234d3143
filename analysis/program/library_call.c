#include "analysis/program/library_call.h"

#include "analysis/base/text_scan.h"
#include "proto/hlo_fields.h"
#include "proto/wire.h"

enum library_call library_call_of(const struct graph_node *node) {
    static const struct {
        const char *prefix;
        enum library_call call;
    } table[] = {
        {"__cublas$gemm", LIBRARY_PRODUCT},
        {"__cublas$lt$", LIBRARY_PRODUCT},
        {"__cudnn$convBackwardInput", LIBRARY_CONVOLUTION_INPUT},
        {"__cudnn$convBackwardFilter", LIBRARY_CONVOLUTION_KERNEL},
        {"__cudnn$conv", LIBRARY_CONVOLUTION},
        {"__cudnn$fmha", LIBRARY_ATTENTION},
    };
    if (node->opcode != OPCODE_CUSTOM_CALL) return LIBRARY_NONE;
    struct bytes target = wire_find_message(node->message, HLO_INSTRUCTION_CUSTOM_CALL_TARGET);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (!bytes_starts_with(target, bytes_of(table[i].prefix))) continue;
        bool is_backward = table[i].call == LIBRARY_ATTENTION && bytes_contains(target, BYTES("Backward"));
        return is_backward ? LIBRARY_ATTENTION_BACKWARD : table[i].call;
    }
    return LIBRARY_NONE;
}

bool library_call_is_product(const struct graph_node *node) {
    if (node->opcode == OPCODE_DOT || node->opcode == OPCODE_CONVOLUTION) return true;
    enum library_call call = library_call_of(node);
    return call != LIBRARY_NONE && call != LIBRARY_ATTENTION && call != LIBRARY_ATTENTION_BACKWARD;
}

// --- Numbers in messages ---

int dimension_numbers_read(struct bytes message, uint32_t field, int numbers[ARRAY_RANK_MAX]) {
    int count = 0;
    struct wire w = wire_open(message);
    for (struct wire_field f; wire_next(&w, &f);) {
        if (f.number != field) continue;
        struct wire packed = wire_open_packed(&f);
        if (f.type == WIRE_VARINT && count < ARRAY_RANK_MAX) numbers[count++] = (int)(f.value & 0xff);
        for (uint64_t n; wire_next_varint(&packed, &n) && count < ARRAY_RANK_MAX;) numbers[count++] = (int)(n & 0xff);
    }
    return count;
}

int dimension_number_read(struct bytes message, uint32_t field) {
    int numbers[ARRAY_RANK_MAX];
    return dimension_numbers_read(message, field, numbers) ? numbers[0] : 0;
}

unsigned dimension_bits(const int *numbers, int count) {
    unsigned bits = 0;
    for (int i = 0; i < count; i++) bits |= numbers[i] < ARRAY_RANK_MAX ? 1u << numbers[i] : 0;
    return bits;
}

static bool read_message(struct bytes message, struct dot_numbers *n) {
    n->contracted_count = dimension_numbers_read(message, DOT_LHS_CONTRACTING, n->contracted_left);
    n->batch_count = dimension_numbers_read(message, DOT_LHS_BATCH, n->batch_left);
    return dimension_numbers_read(message, DOT_RHS_CONTRACTING, n->contracted_right) == n->contracted_count &&
           dimension_numbers_read(message, DOT_RHS_BATCH, n->batch_right) == n->batch_count;
}

// --- Numbers in JSON ---

// What stands after `key`; empty without it.
static struct bytes after(struct bytes json, struct bytes key) {
    size_t at = bytes_find(json, key);
    text_skip(&json, at + key.size);
    return json;
}

// "key": ["1", "2"], the numbers as JSON writes int64; at most ARRAY_RANK_MAX. -1 without the key.
static int read_list(struct bytes json, struct bytes key, int numbers[ARRAY_RANK_MAX]) {
    int count = 0;
    struct bytes rest = after(json, key);
    if (!rest.size) return -1;
    text_take_until(&rest, '[');
    struct bytes list = text_take_until(&rest, ']');
    while (list.size && count < ARRAY_RANK_MAX) {
        int64_t number;
        if (text_take_int64(&list, &number))
            numbers[count++] = (int)(number & 0xff);
        else
            text_skip(&list, 1);
    }
    return count;
}

static bool read_json(struct bytes config, struct bytes key, struct dot_numbers *n) {
    struct bytes rest = after(config, key), json = text_take_until(&rest, '}');
    n->contracted_count = read_list(json, BYTES("\"lhs_contracting_dimensions\""), n->contracted_left);
    n->batch_count = read_list(json, BYTES("\"lhs_batch_dimensions\""), n->batch_left);
    if (n->contracted_count < 0) return false;
    int right = read_list(json, BYTES("\"rhs_contracting_dimensions\""), n->contracted_right);
    int batch_right = read_list(json, BYTES("\"rhs_batch_dimensions\""), n->batch_right);
    bool is_even = right == n->contracted_count && batch_right == n->batch_count;
    if (n->batch_count < 0) n->batch_count = 0;
    return is_even;
}

bool dot_numbers_of(const struct graph_node *node, struct dot_numbers *numbers) {
    if (node->opcode == OPCODE_DOT) return read_message(wire_find_message(node->message, HLO_INSTRUCTION_DOT), numbers);
    struct bytes config = wire_find_message(node->message, HLO_INSTRUCTION_BACKEND_CONFIG);
    return library_call_of(node) == LIBRARY_PRODUCT && read_json(config, BYTES("\"dot_dimension_numbers\""), numbers);
}

bool dot_numbers_of_attention(const struct graph_node *node, struct dot_numbers *scores, struct dot_numbers *mixed) {
    struct bytes config = wire_find_message(node->message, HLO_INSTRUCTION_BACKEND_CONFIG);
    return read_json(config, BYTES("\"bmm1_dot_dimension_numbers\""), scores) &&
           read_json(config, BYTES("\"bmm2_dot_dimension_numbers\""), mixed);
}
