#include "analysis/advice/module_scope.h"

static bool is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}

// "layer_0", not "T5".
static bool ends_with_number(struct bytes name) {
    size_t at = name.size;
    while (at > 0 && is_digit(name.data[at - 1])) at--;
    return at > 0 && at < name.size && name.data[at - 1] == '_';
}

struct bytes module_scope_of(struct bytes op_name) {
    size_t at = bytes_find(op_name, BYTES("jvp(")), from = at + BYTES("jvp(").size;
    bool has_number = false;
    while (at < op_name.size && op_name.data[at] != '/') at++;
    bool is_closed = at > from && at < op_name.size && op_name.data[at - 1] == ')';
    if (is_closed && ends_with_number((struct bytes){op_name.data + from, at - 1 - from}))
        return (struct bytes){op_name.data, at};
    for (size_t i = at + 1; i < op_name.size; i++) {
        if (op_name.data[i] == '/' && has_number) return (struct bytes){op_name.data, i};
        has_number |= is_digit(op_name.data[i]);
    }
    return (struct bytes){op_name.data, 0};
}
