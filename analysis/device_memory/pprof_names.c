#include "analysis/device_memory/pprof_names.h"

#include "proto/pprof_fields.h"
#include "proto/wire.h"

bool pprof_names_read(struct bytes profile, uint32_t count, struct arena *arena, struct pprof_names *names) {
    *names = (struct pprof_names){.numbers = arena_push_raw(arena, (size_t)count + 1, sizeof *names->numbers)};
    if (!names->numbers || !string_table_init(&names->table, arena)) return false;
    names->numbers[names->count++] = 0;
    struct wire w = wire_open(profile);
    struct wire_field f;
    uint32_t seen = 0;
    while (wire_next(&w, &f) && seen < count) {
        if (f.number != PPROF_STRING_TABLE || f.type != WIRE_LEN || seen++ == 0) continue;  // the first is "", always
        names->numbers[names->count++] = string_table_put(&names->table, f.payload);
    }
    return !string_table_has_failed(&names->table);
}

uint32_t pprof_names_index(const struct pprof_names *names, uint64_t index) {
    return index < names->count ? names->numbers[index] : 0;
}

struct bytes pprof_names_text(const struct pprof_names *names, uint64_t index) {
    return names->table.texts[pprof_names_index(names, index)];
}
