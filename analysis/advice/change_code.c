#include "analysis/advice/change_code.h"

#include "analysis/advice/change.h"

enum { ARGUMENTS_MAX = 64 };

struct argument {
    struct bytes name;
    bool is_donated;  // or one of its inputs could be
};

struct arguments {
    struct argument list[ARGUMENTS_MAX];
    size_t count;
};

static bool is_of_identifier(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "state" of state[4].ema['w']; empty where that is no name of an input.
static struct bytes argument_name(struct bytes op_name) {
    size_t size = 0;
    while (size < op_name.size && is_of_identifier(op_name.data[size])) size++;
    bool is_name = size == op_name.size || op_name.data[size] == '[' || op_name.data[size] == '.';
    struct bytes name = {op_name.data, is_name ? size : 0};
    bool is_all = bytes_equal(name, BYTES("args")) || bytes_equal(name, BYTES("kwargs"));
    return is_all ? (struct bytes){0} : name;
}

static bool has_argument(const struct arguments *arguments, struct bytes name) {
    for (size_t i = 0; i < arguments->count; i++) {
        if (bytes_equal(arguments->list[i].name, name)) return true;
    }
    return false;
}

// The argument of the next input: the last one still, or a new one. NULL: there is no telling.
static struct argument *next_argument(struct arguments *arguments, struct bytes name) {
    struct argument *last = arguments->count ? &arguments->list[arguments->count - 1] : NULL;
    if (!name.size) return NULL;
    if (last && bytes_equal(last->name, name)) return last;
    if (arguments->count == ARGUMENTS_MAX || has_argument(arguments, name)) return NULL;
    last = &arguments->list[arguments->count++];
    *last = (struct argument){.name = name};
    return last;
}

static bool list_arguments(const struct advisor *advisor, struct arguments *arguments) {
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        const struct entry_input *input = &advisor->roles.inputs[i];
        if (input->leaf == HLO_NONE) return false;
        struct bytes op_name = advisor->graph.nodes[advisor->graph.node_of_leaf[input->leaf]].op_name;
        struct argument *argument = next_argument(arguments, argument_name(op_name));
        if (!argument) return false;
        argument->is_donated |= input->is_donated || input->mirror != HLO_NONE;
    }
    return true;
}

// "(0, 2)" and "params, state"; one number is "(0,)", as Python writes it.
static const char *code_of_donation(const struct advisor *advisor) {
    struct arguments *arguments = arena_new(advisor->arena, struct arguments, 1);
    const char *numbers = "", *names = "";
    size_t count = 0;
    if (!arguments || !list_arguments(advisor, arguments)) return NULL;
    for (size_t i = 0; i < arguments->count && numbers && names; i++) {
        struct bytes name = arguments->list[i].name;
        if (!arguments->list[i].is_donated) continue;
        numbers = arena_printf(advisor->arena, "%s%s%zu", numbers, count ? ", " : "", i);
        names = arena_printf(advisor->arena, "%s%s%.*s", names, count ? ", " : "", (int)name.size,
                             (const char *)name.data);
        count++;
    }
    if (!count || !numbers || !names) return NULL;
    return arena_printf(advisor->kept, "jax.jit(step, donate_argnums=(%s%s))  # %s", numbers, count == 1 ? "," : "",
                        names);
}

const char *change_name_of(const struct advisor *advisor, const struct advice_item *item) {
    if (!item->applies || !item->parts) return NULL;
    return arena_printf(advisor->kept, CHANGE_NAME_MICRO_BATCH("%lld "), (long long)item->parts);
}

const char *change_code_of(const struct advisor *advisor, const struct advice_item *item) {
    if (!item->applies) return NULL;
    long long parts = item->parts;
    if (item->id == ADVICE_DONATE_INPUTS) return code_of_donation(advisor);
    if (parts) return arena_printf(advisor->kept, CHANGE_CODE_MICRO_BATCH("%lld"), parts, parts);
    if (item->has_dimension)
        return arena_printf(advisor->kept, "size = %lld  # not %lld", (long long)item->dimension.to,
                            (long long)item->dimension.from);
    return NULL;
}
