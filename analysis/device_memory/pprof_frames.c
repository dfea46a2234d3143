#include "analysis/device_memory/pprof_load.h"
#include "proto/pprof_fields.h"

// --- Functions ---

bool pprof_is_library(struct bytes file) {
    static const char *const folders[] = {"/site-packages/", "/dist-packages/", "/lib/python3", "/lib64/python3"};
    bool is_library = bytes_starts_with(file, BYTES("<frozen "));
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !is_library; i++)
        is_library = bytes_contains(file, bytes_of(folders[i]));
    return is_library;
}

struct function_words {
    uint64_t id, name, file;
};

static bool read_function(const struct pprof_loader *loader, struct bytes message, struct function_words *words) {
    struct pprof_walk walk = pprof_walk_over(message, "Function");
    struct wire_field f;
    *words = (struct function_words){0};
    while (wire_next(&walk.wire, &f)) {
        if (f.type != WIRE_VARINT) continue;
        if (f.number == PPROF_FUNCTION_ID) words->id = f.value;
        if (f.number == PPROF_FUNCTION_NAME) words->name = f.value;
        if (f.number == PPROF_FUNCTION_FILENAME) words->file = f.value;
    }
    return pprof_walk_ended(loader, &walk);
}

// The function of these names; makes it when it is new.
static uint32_t intern_function(struct pprof_loader *loader, struct id_map *known, uint64_t name, uint64_t file) {
    struct device_memory_profile *profile = loader->profile;
    uint32_t name_index = pprof_names_index(&loader->names, name);
    uint32_t file_index = pprof_names_index(&loader->names, file);
    uint32_t function = id_map_get(known, id_map_pair(name_index, file_index));
    if (function != ID_MAP_NONE) return function;
    struct bytes path = loader->names.table.texts[file_index];
    function = profile->function_count++;
    profile->functions[function] = (struct device_memory_function){
        .name = loader->names.table.texts[name_index], .file = path, .is_library = pprof_is_library(path)};
    (void)id_map_put(known, id_map_pair(name_index, file_index), function);
    return function;
}

// Function 0 is the one without a name.
static bool load_functions(struct pprof_loader *loader, struct id_map *function_of_id) {
    struct id_map known;
    size_t count = (size_t)loader->counts.functions;
    loader->profile->functions = arena_new(loader->arena, struct device_memory_function, count + 1);
    if (!loader->profile->functions || !id_map_init(function_of_id, loader->arena, count) ||
        !id_map_init(&known, loader->arena, count + 1))
        return pprof_out_of_memory(loader);
    (void)intern_function(loader, &known, 0, 0);
    struct wire w = wire_open(loader->blob);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        struct function_words words;
        if (f.number != PPROF_FUNCTION || f.type != WIRE_LEN) continue;
        if (!read_function(loader, f.payload, &words)) return false;
        (void)id_map_put(function_of_id, (int64_t)words.id, intern_function(loader, &known, words.name, words.file));
    }
    return true;
}

// --- Frames ---

struct frame_maker {
    const struct id_map *function_of_id;
    struct id_map *known;
};

// A frame of the same place, when there is one under its key; two places may share a key, then both stay.
static uint32_t intern_frame(struct pprof_loader *loader, struct id_map *known, struct device_memory_frame frame) {
    struct device_memory_profile *profile = loader->profile;
    int64_t key = (int64_t)((uint64_t)frame.line * 0x9e3779b97f4a7c15u ^ (uint64_t)frame.function << 32);
    uint32_t same = id_map_get(known, key);
    if (same != ID_MAP_NONE && profile->frames[same].function == frame.function &&
        profile->frames[same].line == frame.line)
        return same;
    profile->frames[profile->frame_count] = frame;
    if (same == ID_MAP_NONE) (void)id_map_put(known, key, profile->frame_count);
    return profile->frame_count++;
}

static bool read_line(struct pprof_loader *loader, const struct frame_maker *maker, struct bytes message,
                      uint32_t *frame) {
    struct pprof_walk walk = pprof_walk_over(message, "Line");
    struct wire_field f;
    uint64_t function_id = 0;
    int64_t line = 0;
    while (wire_next(&walk.wire, &f)) {
        if (f.number == PPROF_LINE_FUNCTION_ID && f.type == WIRE_VARINT) function_id = f.value;
        if (f.number == PPROF_LINE_LINE && f.type == WIRE_VARINT) line = wire_int64(&f);
    }
    uint32_t function = id_map_get(maker->function_of_id, (int64_t)function_id);
    *frame = intern_frame(loader, maker->known,
                          (struct device_memory_frame){function == ID_MAP_NONE ? 0 : function, line});
    return pprof_walk_ended(loader, &walk);
}

// --- Locations ---

// A location without a line stands for the frame without a name, as does an id that names no location.
static bool read_location(struct pprof_loader *loader, const struct frame_maker *maker, struct bytes message,
                          uint32_t *line_count) {
    struct pprof_walk walk = pprof_walk_over(message, "Location");
    struct pprof_location location = {*line_count, 0};
    struct wire_field f;
    uint64_t id = 0;
    while (wire_next(&walk.wire, &f)) {
        if (f.number == PPROF_LOCATION_ID && f.type == WIRE_VARINT) id = f.value;
        if (f.number != PPROF_LOCATION_LINE || f.type != WIRE_LEN) continue;
        if (!read_line(loader, maker, f.payload, &loader->frame_of_line[*line_count])) return false;
        (*line_count)++;
        location.count++;
    }
    if (location.count == 0) location = loader->locations[0];
    (void)id_map_put(&loader->location_of_id, (int64_t)id, loader->location_count);
    loader->locations[loader->location_count++] = location;
    return pprof_walk_ended(loader, &walk);
}

static bool make_tables(struct pprof_loader *loader, struct id_map *known) {
    size_t locations = (size_t)loader->counts.locations, lines = (size_t)loader->counts.lines;
    loader->locations = arena_new(loader->arena, struct pprof_location, locations + 1);
    loader->frame_of_line = arena_new(loader->arena, uint32_t, lines + 1);
    loader->profile->frames = arena_new(loader->arena, struct device_memory_frame, lines + 1);
    return (loader->locations && loader->frame_of_line && loader->profile->frames &&
            id_map_init(&loader->location_of_id, loader->arena, locations) &&
            id_map_init(known, loader->arena, lines + 1)) ||
           pprof_out_of_memory(loader);
}

bool pprof_load_frames(struct pprof_loader *loader) {
    struct id_map function_of_id, known;
    if (!load_functions(loader, &function_of_id) || !make_tables(loader, &known)) return false;
    const struct frame_maker maker = {&function_of_id, &known};
    uint32_t line_count = 1;
    loader->frame_of_line[0] = intern_frame(loader, &known, (struct device_memory_frame){0});
    loader->locations[loader->location_count++] = (struct pprof_location){0, 1};
    struct wire w = wire_open(loader->blob);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.number != PPROF_LOCATION || f.type != WIRE_LEN) continue;
        if (!read_location(loader, &maker, f.payload, &line_count)) return false;
    }
    return true;
}
