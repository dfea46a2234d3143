#include "analysis/input/dump_name.h"

#include "analysis/base/text_scan.h"

static const char *const endings[] = {
    [DUMP_PART_NONE] = "",
    [DUMP_PART_OTHER] = "",
    [DUMP_PART_PROTO] = "after_optimizations.hlo.pb",
    [DUMP_PART_ASSIGNMENT] = "after_optimizations-buffer-assignment.txt",
    [DUMP_PART_PROGRAM] = "after_optimizations.txt",
    [DUMP_PART_VALUES] = "after_optimizations-buffer-assignment-values.txt",
    [DUMP_PART_LIVE_RANGE] = "after_optimizations-live-range.txt",
    [DUMP_PART_REPORT_PROTO] = "after_optimizations-memory-usage-report.pb",
    [DUMP_PART_REPORT_TEXT] = "after_optimizations-memory-usage-report.txt",
    [DUMP_PART_OOM_PROTO] = "oom_intermediate_module.hlo.pb",
    [DUMP_PART_OOM_TEXT] = "oom_intermediate_module.txt",
};

enum { PART_COUNT = sizeof endings / sizeof *endings };

const char *dump_part_ending(enum dump_part part) {
    return (unsigned)part < PART_COUNT ? endings[part] : "";
}

static bool take_number(struct bytes *text, uint64_t *number) {
    int64_t found;
    if (!text->size || text->data[0] == '-' || !text_take_int64(text, &found)) return false;
    *number = (uint64_t)found;
    return true;
}

// "[timestamp.]module_NNNN."
static bool take_head(struct bytes *rest, uint64_t *number) {
    struct bytes with_timestamp = *rest;
    uint64_t timestamp;
    if (take_number(&with_timestamp, &timestamp) && text_take(&with_timestamp, BYTES("."))) *rest = with_timestamp;
    return text_take(rest, BYTES("module_")) && take_number(rest, number) && text_take(rest, BYTES("."));
}

// The part whose ending the name has, on its own or after "." or "_": cuts it off.
static enum dump_part take_ending(struct bytes *rest) {
    for (int part = DUMP_PART_PROTO; part < PART_COUNT; part++) {
        struct bytes ending = bytes_of(endings[part]);
        if (!bytes_ends_with(*rest, ending)) continue;
        size_t left = rest->size - ending.size;
        if (left && rest->data[left - 1] != '.' && rest->data[left - 1] != '_') continue;
        rest->size = left;
        return (enum dump_part)part;
    }
    return DUMP_PART_OTHER;
}

// Where the last piece of a dotted text starts.
static size_t last_piece(struct bytes text) {
    size_t at = text.size;
    while (at > 0 && text.data[at - 1] != '.') at--;
    return at;
}

static size_t find_last(struct bytes text, struct bytes piece) {
    for (size_t at = text.size + 1; at-- > 0;) {
        if (bytes_starts_with((struct bytes){text.data + at, text.size - at}, piece)) return at;
    }
    return text.size;
}

// Of "jit_f.cl_987654321." or "jit_f.sm_9.0_gpu_" the name before the variant.
static struct bytes cut_variant(struct bytes middle) {
    bool is_backend = bytes_ends_with(middle, BYTES("_"));
    if (middle.size) middle.size--;
    size_t capability = find_last(middle, BYTES(".sm_")), piece = last_piece(middle);
    struct bytes last = {middle.data + piece, middle.size - piece};
    if (is_backend && capability < middle.size)
        middle.size = capability;
    else if (is_backend || bytes_starts_with(last, BYTES("cl_")))
        middle.size = piece ? piece - 1 : 0;
    return middle.size ? middle : BYTES("module");
}

struct dump_name dump_name_parse(struct bytes file_name) {
    struct dump_name name = {.part = DUMP_PART_NONE};
    struct bytes rest = file_name;
    name.compressed = bytes_ends_with(rest, BYTES(".gz"));
    if (name.compressed) rest.size -= 3;
    if (!take_head(&rest, &name.number)) return name;
    name.part = take_ending(&rest);
    if (name.part == DUMP_PART_OTHER) return name;
    name.stem = (struct bytes){file_name.data, (size_t)(rest.data + rest.size - file_name.data)};
    name.module = cut_variant(rest);
    return name;
}
