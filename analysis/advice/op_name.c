#include "analysis/advice/op_name.h"

bool op_name_contains(struct bytes op_name, struct bytes part) {
    if (!part.size || op_name.size < part.size) return false;
    const uint8_t *at = op_name.data, *end = op_name.data + op_name.size;
    while ((size_t)(end - at) >= part.size) {
        at = memchr(at, part.data[0], (size_t)(end - at) - part.size + 1);
        if (!at) return false;
        if (memcmp(at, part.data, part.size) == 0) return true;
        at++;
    }
    return false;
}

enum phase op_name_phase(struct bytes op_name) {
    if (op_name_contains(op_name, BYTES("transpose(jvp"))) return PHASE_BACKWARD;
    return op_name_contains(op_name, BYTES("jvp(")) ? PHASE_FORWARD : PHASE_OTHER;
}

struct bytes op_name_primitive(struct bytes op_name) {
    size_t start = op_name.size;
    while (start && op_name.data[start - 1] != '/') start--;
    return start ? (struct bytes){op_name.data + start, op_name.size - start} : op_name;
}
