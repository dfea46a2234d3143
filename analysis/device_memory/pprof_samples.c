#include <stdlib.h>

#include "analysis/device_memory/pprof_load.h"
#include "proto/pprof_fields.h"

enum { NO_VALUE = -1 };

// --- What is measured ---

// Which value of a sample is the bytes, and which the count.
struct value_places {
    int bytes, count;
};

static bool read_value_type(const struct pprof_loader *loader, struct bytes message, struct bytes *type,
                            struct bytes *unit) {
    struct pprof_walk walk = pprof_walk_over(message, "ValueType");
    struct wire_field f;
    *type = *unit = (struct bytes){0};
    while (wire_next(&walk.wire, &f)) {
        if (f.number == PPROF_VALUE_TYPE_TYPE && f.type == WIRE_VARINT)
            *type = pprof_names_text(&loader->names, f.value);
        if (f.number == PPROF_VALUE_TYPE_UNIT && f.type == WIRE_VARINT)
            *unit = pprof_names_text(&loader->names, f.value);
    }
    return pprof_walk_ended(loader, &walk);
}

static bool is_other_profile(const struct pprof_loader *loader, struct bytes type, struct bytes unit) {
    if (loader->counts.names == 0)
        return error_at(loader->error, ERROR_TRUNCATED, (int64_t)loader->blob.size,
                        "expected the names of the sample types of a device memory profile, the file ends here");
    return error_set(loader->error, ERROR_MALFORMED,
                     "not a device memory profile: it measures %.*s/%.*s, and not allocations/count and space/bytes as "
                     "jax.profiler.save_device_memory_profile does",
                     (int)(type.size < 60 ? type.size : 60), (const char *)type.data,
                     (int)(unit.size < 60 ? unit.size : 60), (const char *)unit.data);
}

static bool find_values(const struct pprof_loader *loader, struct value_places *places) {
    struct bytes type = BYTES("nothing"), unit = BYTES("nothing");
    struct wire w = wire_open(loader->blob);
    struct wire_field f;
    int position = 0;
    *places = (struct value_places){NO_VALUE, NO_VALUE};
    while (wire_next(&w, &f)) {
        if (f.number != PPROF_SAMPLE_TYPE || f.type != WIRE_LEN) continue;
        if (!read_value_type(loader, f.payload, &type, &unit)) return false;
        if (bytes_equal(type, BYTES("space")) && bytes_equal(unit, BYTES("bytes"))) places->bytes = position;
        if (bytes_equal(type, BYTES("allocations")) && bytes_equal(unit, BYTES("count"))) places->count = position;
        position++;
    }
    return (places->bytes >= 0 && places->count >= 0) || is_other_profile(loader, type, unit);
}

// --- Samples ---

struct sample_loader {
    struct pprof_loader *loader;
    struct value_places places;
    uint32_t kind_name, device_name;  // the numbers of "kind" and "device"
    struct id_map group_of;           // by both names
};

struct sample_words {
    int64_t values[PPROF_MAX_SAMPLE_TYPES];
    int value_count;
    uint32_t kind, device;  // numbers of names
};

static bool is_damaged_sample(const struct pprof_loader *loader, struct bytes message, enum error_code code,
                              const char *what) {
    return error_at(loader->error, code, message.data - loader->blob.data, "damaged Sample: %s", what);
}

static bool add_frames(struct pprof_loader *loader, struct device_memory_sample *sample, uint64_t location_id) {
    struct device_memory_profile *profile = loader->profile;
    uint32_t index = id_map_get(&loader->location_of_id, (int64_t)location_id);
    struct pprof_location location = loader->locations[index == ID_MAP_NONE ? 0 : index];
    if (pprof_is_too_many(loader, (uint64_t)sample->depth + location.count, DEVICE_MEMORY_MAX_DEPTH,
                          "frames in one stack") ||
        pprof_is_too_many(loader, (uint64_t)profile->stack_entry_count + location.count,
                          DEVICE_MEMORY_MAX_STACK_ENTRIES, "frames in all stacks"))
        return false;
    for (uint32_t i = 0; i < location.count; i++)
        profile->stacks[profile->stack_entry_count++] = loader->frame_of_line[location.first + i];
    sample->depth += location.count;
    return true;
}

static bool read_locations(struct pprof_loader *loader, struct device_memory_sample *sample,
                           const struct wire_field *field) {
    if (field->type == WIRE_VARINT) return add_frames(loader, sample, field->value);
    struct pprof_walk packed = {wire_open_packed(field), "list of locations"};
    uint64_t id;
    while (wire_next_varint(&packed.wire, &id)) {
        if (!add_frames(loader, sample, id)) return false;
    }
    return pprof_walk_ended(loader, &packed);
}

static bool read_values(const struct pprof_loader *loader, struct sample_words *words, const struct wire_field *field) {
    uint64_t value;
    if (field->type == WIRE_VARINT) {
        if (words->value_count < PPROF_MAX_SAMPLE_TYPES) words->values[words->value_count++] = wire_int64(field);
        return true;
    }
    struct pprof_walk packed = {wire_open_packed(field), "list of values"};
    while (wire_next_varint(&packed.wire, &value)) {
        if (words->value_count < PPROF_MAX_SAMPLE_TYPES) words->values[words->value_count++] = (int64_t)value;
    }
    return pprof_walk_ended(loader, &packed);
}

static bool read_label(const struct sample_loader *samples, struct sample_words *words, struct bytes message) {
    struct pprof_walk walk = pprof_walk_over(message, "Label");
    struct wire_field f;
    uint32_t key = 0, text = 0;
    while (wire_next(&walk.wire, &f)) {
        if (f.number == PPROF_LABEL_KEY && f.type == WIRE_VARINT)
            key = pprof_names_index(&samples->loader->names, f.value);
        if (f.number == PPROF_LABEL_STR && f.type == WIRE_VARINT)
            text = pprof_names_index(&samples->loader->names, f.value);
    }
    if (key && key == samples->kind_name) words->kind = text;
    if (key && key == samples->device_name) words->device = text;
    return pprof_walk_ended(samples->loader, &walk);
}

static bool read_fields(struct sample_loader *samples, struct bytes message, struct device_memory_sample *sample,
                        struct sample_words *words) {
    struct pprof_walk walk = pprof_walk_over(message, "Sample");
    struct wire_field f;
    while (wire_next(&walk.wire, &f)) {
        bool is_number = f.type == WIRE_VARINT || f.type == WIRE_LEN, is_good = true;
        if (f.number == PPROF_SAMPLE_LOCATION_ID && is_number) is_good = read_locations(samples->loader, sample, &f);
        if (f.number == PPROF_SAMPLE_VALUE && is_number) is_good = read_values(samples->loader, words, &f);
        if (f.number == PPROF_SAMPLE_LABEL && f.type == WIRE_LEN) is_good = read_label(samples, words, f.payload);
        if (!is_good) return false;
    }
    return pprof_walk_ended(samples->loader, &walk);
}

static bool find_group(struct sample_loader *samples, const struct sample_words *words, uint32_t *group) {
    struct pprof_loader *loader = samples->loader;
    struct device_memory_profile *profile = loader->profile;
    int64_t key = id_map_pair(words->kind, words->device);
    *group = id_map_get(&samples->group_of, key);
    if (*group != ID_MAP_NONE) return true;
    if (pprof_is_too_many(loader, (uint64_t)profile->group_count + 1, DEVICE_MEMORY_MAX_GROUPS, "kinds and devices"))
        return false;
    *group = profile->group_count++;
    profile->groups[*group] = (struct device_memory_group){.kind = loader->names.table.texts[words->kind],
                                                           .device = loader->names.table.texts[words->device]};
    return id_map_put(&samples->group_of, key, *group);
}

static bool add_up(struct device_memory_profile *profile, const struct device_memory_sample *sample) {
    struct device_memory_group *group = &profile->groups[sample->group];
    bool overflows = __builtin_add_overflow(profile->bytes, sample->bytes, &profile->bytes);
    overflows |= __builtin_add_overflow(profile->count, sample->count, &profile->count);
    group->bytes += overflows ? 0 : sample->bytes;  // never more than the whole
    group->count += overflows ? 0 : sample->count;
    return !overflows;
}

// The file has the innermost frame first.
static void turn_stack(uint32_t *stack, uint32_t depth) {
    for (uint32_t i = 0; i < depth / 2; i++) {
        uint32_t frame = stack[i];
        stack[i] = stack[depth - 1 - i];
        stack[depth - 1 - i] = frame;
    }
}

static bool read_sample(struct sample_loader *samples, struct bytes message) {
    struct device_memory_profile *profile = samples->loader->profile;
    struct device_memory_sample sample = {.first = profile->stack_entry_count};
    struct sample_words words = {.value_count = 0};
    if (!read_fields(samples, message, &sample, &words) || !find_group(samples, &words, &sample.group)) return false;
    turn_stack(profile->stacks + sample.first, sample.depth);
    if (samples->places.bytes < words.value_count) sample.bytes = words.values[samples->places.bytes];
    if (samples->places.count < words.value_count) sample.count = words.values[samples->places.count];
    if (sample.bytes < 0 || sample.count < 0)
        return is_damaged_sample(samples->loader, message, ERROR_MALFORMED, "a size or count below zero");
    profile->samples[profile->sample_count++] = sample;
    return add_up(profile, &sample) ||
           is_damaged_sample(samples->loader, message, ERROR_TOO_BIG, "the sizes add up to more than 63 bits");
}

// --- Groups by name ---

static int by_kind_device(const void *left, const void *right) {
    const struct device_memory_group *a = *(const struct device_memory_group *const *)left,
                                     *b = *(const struct device_memory_group *const *)right;
    int order = bytes_compare(a->kind, b->kind);
    return order ? order : bytes_compare(a->device, b->device);
}

static bool order_groups(struct pprof_loader *loader) {
    struct device_memory_profile *profile = loader->profile;
    size_t count = profile->group_count;
    const struct device_memory_group **order = arena_new(loader->arena, const struct device_memory_group *, count);
    struct device_memory_group *ordered = arena_new(loader->arena, struct device_memory_group, count);
    uint32_t *place_of = arena_new(loader->arena, uint32_t, count);
    if (!order || !ordered || !place_of) return pprof_out_of_memory(loader);
    for (size_t i = 0; i < count; i++) order[i] = &profile->groups[i];
    if (count) qsort(order, count, sizeof *order, by_kind_device);
    for (uint32_t i = 0; i < count; i++) {
        ordered[i] = *order[i];
        place_of[order[i] - profile->groups] = i;
    }
    for (uint32_t i = 0; i < profile->sample_count; i++)
        profile->samples[i].group = place_of[profile->samples[i].group];
    profile->groups = ordered;
    return true;
}

// --- All of it ---

// An upper bound of the entries of all stacks: a location id takes at least one byte.
static size_t most_stack_entries(const struct pprof_counts *counts) {
    uint64_t most;
    bool is_huge = __builtin_mul_overflow(counts->sample_bytes, counts->most_lines ? counts->most_lines : 1, &most);
    return is_huge || most > DEVICE_MEMORY_MAX_STACK_ENTRIES ? DEVICE_MEMORY_MAX_STACK_ENTRIES : (size_t)most;
}

bool pprof_load_samples(struct pprof_loader *loader) {
    struct device_memory_profile *profile = loader->profile;
    size_t most_groups = loader->counts.samples < DEVICE_MEMORY_MAX_GROUPS ? (size_t)loader->counts.samples
                                                                           : DEVICE_MEMORY_MAX_GROUPS;
    struct sample_loader samples = {.loader = loader,
                                    .kind_name = string_table_put(&loader->names.table, BYTES("kind")),
                                    .device_name = string_table_put(&loader->names.table, BYTES("device"))};
    profile->stacks = arena_push_raw(loader->arena, most_stack_entries(&loader->counts), sizeof *profile->stacks);
    profile->samples = arena_new(loader->arena, struct device_memory_sample, (size_t)loader->counts.samples);
    profile->groups = arena_new(loader->arena, struct device_memory_group, most_groups);
    if (!profile->stacks || !profile->samples || !profile->groups || string_table_has_failed(&loader->names.table) ||
        !id_map_init(&samples.group_of, loader->arena, most_groups))
        return pprof_out_of_memory(loader);
    if (!find_values(loader, &samples.places)) return false;
    struct wire w = wire_open(loader->blob);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.number == PPROF_SAMPLE && f.type == WIRE_LEN && !read_sample(&samples, f.payload)) return false;
    }
    return order_groups(loader);
}
