#include "analysis/device_memory/pprof_names.h"

#include "analysis/base/id_map.h"
#include "proto/pprof_fields.h"
#include "proto/wire.h"

static void settle(struct pprof_names *names, struct id_map *known, uint32_t index, struct bytes text) {
    int64_t key = id_map_key(text);
    uint32_t same = id_map_get(known, key);
    bool is_known = same != ID_MAP_NONE && bytes_equal(names->texts[same], text);
    names->texts[index] = text;
    names->canonical[index] = is_known ? same : index;
    if (same == ID_MAP_NONE) (void)id_map_put(known, key, index);
}

bool pprof_names_read(struct bytes profile, uint32_t count, struct arena *arena, struct pprof_names *names) {
    struct id_map known;
    *names = (struct pprof_names){.texts = arena_push_raw(arena, (size_t)count + 1, sizeof *names->texts),
                                  .canonical = arena_push_raw(arena, (size_t)count + 1, sizeof *names->canonical)};
    if (!names->texts || !names->canonical || !id_map_init(&known, arena, (size_t)count + 1)) return false;
    settle(names, &known, names->count++, (struct bytes){0});
    struct wire w = wire_open(profile);
    struct wire_field f;
    uint32_t seen = 0;
    while (wire_next(&w, &f) && seen < count) {
        if (f.number != PPROF_STRING_TABLE || f.type != WIRE_LEN) continue;
        if (seen++ > 0) settle(names, &known, names->count++, f.payload);  // the first one is "" whatever it says
    }
    return true;
}

uint32_t pprof_names_index(const struct pprof_names *names, uint64_t index) {
    return index < names->count ? names->canonical[index] : 0;
}

struct bytes pprof_names_text(const struct pprof_names *names, uint64_t index) {
    return names->texts[pprof_names_index(names, index)];
}
