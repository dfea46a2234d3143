#include "analysis/program/op_name.h"

enum phase op_name_phase(struct bytes op_name) {
    if (bytes_contains(op_name, BYTES("transpose(jvp"))) return PHASE_BACKWARD;
    return bytes_contains(op_name, BYTES("jvp(")) ? PHASE_FORWARD : PHASE_OTHER;
}

struct bytes op_name_primitive(struct bytes op_name) {
    size_t start = op_name.size;
    while (start && op_name.data[start - 1] != '/') start--;
    return start ? (struct bytes){op_name.data + start, op_name.size - start} : op_name;
}
