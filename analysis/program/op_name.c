#include "analysis/program/op_name.h"

#include "analysis/base/text_writer.h"

enum phase op_name_phase(struct bytes op_name) {
    if (bytes_contains(op_name, BYTES("transpose(jvp"))) return PHASE_BACKWARD;
    return bytes_contains(op_name, BYTES("jvp(")) ? PHASE_FORWARD : PHASE_OTHER;
}

struct bytes op_name_primitive(struct bytes op_name) {
    size_t start = op_name.size;
    while (start && op_name.data[start - 1] != '/') start--;
    return start ? (struct bytes){op_name.data + start, op_name.size - start} : op_name;
}

// --- Scopes ---

// What stands before the next slash outside parentheses; `rest` is what stands behind it.
static struct bytes next_component(struct bytes *rest) {
    size_t end = 0, depth = 0;
    for (; end < rest->size && (depth || rest->data[end] != '/'); end++) {
        if (rest->data[end] == '(') depth++;
        if (rest->data[end] == ')' && depth) depth--;
    }
    struct bytes component = {rest->data, end};
    size_t next = end < rest->size ? end + 1 : end;
    *rest = (struct bytes){rest->data + next, rest->size - next};
    return component;
}

// transpose(jvp(Model)) -> Model
static struct bytes unwrap(struct bytes component) {
    while (component.size && component.data[component.size - 1] == ')') {
        size_t open = bytes_find(component, BYTES("("));
        if (open + 1 >= component.size) break;
        component = (struct bytes){component.data + open + 1, component.size - open - 2};
    }
    return component;
}

static bool is_transformation(struct bytes component) {
    static const char *const names[] = {
        "while",  "body", "cond",      "closed_call",     "checkpoint",      "rematted_computation",  "remat",
        "remat2", "pjit", "core_call", "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr", "shard_map",
        "scan"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (bytes_equal(component, bytes_of(names[i]))) return true;
    }
    return component.size == 0 || bytes_starts_with(component, BYTES("branch_"));
}

// layers_12 -> layers_*, 3 -> *
static void put_component(struct text_writer *text, struct bytes component, bool has_stars) {
    size_t end = component.size;
    while (end && component.data[end - 1] >= '0' && component.data[end - 1] <= '9') end--;
    bool counts = end < component.size &&
                  (end == 0 || component.data[end - 1] == '_' || component.data[end - 1] == '.');
    if (text->size) text_put(text, "/");
    if (has_stars && counts) component.size = end;
    text_put_bytes(text, component);
    if (has_stars && counts) text_put(text, "*");
}

struct bytes op_name_scope(struct bytes op_name, bool has_stars, struct arena *arena) {
    struct text_writer text = {.arena = arena};
    struct bytes rest = op_name;
    bool is_outer = bytes_starts_with(op_name, BYTES("jit(")) || bytes_starts_with(op_name, BYTES("pjit(")) ||
                    bytes_starts_with(op_name, BYTES("pmap("));
    if (is_outer) next_component(&rest);
    if (!rest.size) rest = op_name;
    while (rest.size) {
        struct bytes component = unwrap(next_component(&rest));
        bool is_primitive = rest.size == 0;
        if (is_primitive ? text.size == 0 : !is_transformation(component)) put_component(&text, component, has_stars);
    }
    return text_writer_bytes(&text);
}
