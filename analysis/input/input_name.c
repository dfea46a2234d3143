#include "analysis/input/input_name.h"

#include "analysis/base/text_scan.h"

struct input_name input_name_parse(struct bytes file_name) {
    struct input_name name = {.stem = file_name};
    name.compressed = text_cut_ending(&name.stem, BYTES(".gz"));
    if (text_cut_ending(&name.stem, BYTES(".xplane.pb")))
        name.kind = INPUT_NAME_XPLANE;
    else if (text_cut_ending(&name.stem, BYTES(".hlo_proto.pb")))
        name.kind = bytes_equal(name.stem, BYTES("NO_MODULE")) ? INPUT_NAME_OTHER : INPUT_NAME_HLO;
    else if (text_cut_ending(&name.stem, BYTES(".hlo.pb")))
        name.kind = INPUT_NAME_HLO;
    return name;
}

static bool parse_unsigned(struct bytes digits, uint64_t *value) {
    *value = 0;
    for (size_t i = 0; i < digits.size; i++) {
        uint8_t digit = (uint8_t)(digits.data[i] - '0');
        if (digit > 9 || __builtin_mul_overflow(*value, 10u, value) || __builtin_add_overflow(*value, digit, value))
            return false;
    }
    return digits.size > 0;
}

struct program_name program_name_parse(struct bytes name) {
    struct program_name whole = {.module = name};
    size_t open = name.size;
    while (open > 0 && name.data[open - 1] != '(') open--;
    if (open == 0 || name.data[name.size - 1] != ')') return whole;
    uint64_t id;
    if (!parse_unsigned((struct bytes){name.data + open, name.size - 1 - open}, &id)) return whole;
    return (struct program_name){{name.data, open - 1}, true, (int64_t)id};
}
