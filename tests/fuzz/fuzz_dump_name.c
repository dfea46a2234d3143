// Any bytes as the name of a file in a dump: its parts are views into it, in order, and together they are the name.
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/input/dump_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds) {
    if (!holds) abort();
}

static bool is_inside(struct bytes part, struct bytes whole) {
    return part.size == 0 || (part.data >= whole.data && part.data + part.size <= whole.data + whole.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes whole = {data, size};
    struct dump_name name = dump_name_parse(whole);
    require(name.part >= DUMP_PART_NONE && name.part <= DUMP_PART_OOM_TEXT);
    if (name.part == DUMP_PART_NONE || name.part == DUMP_PART_OTHER) return 0;
    struct bytes ending = bytes_of(dump_part_ending(name.part));
    require(ending.size > 0 && is_inside(name.stem, whole) && name.stem.data == data);
    struct bytes rest = {data + name.stem.size, size - name.stem.size};
    require(rest.size == ending.size + (name.compressed ? 3 : 0));
    require(memcmp(rest.data, ending.data, ending.size) == 0);
    require(bytes_equal(name.module, BYTES("module")) || is_inside(name.module, whole));
    return 0;
}
