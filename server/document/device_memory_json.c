#include "server/document/device_memory_json.h"

#include "server/text/json_writer.h"

void device_memory_totals_write(const struct device_memory_profile *profile, struct json_writer *w) {
    json_write_int64_key(w, "bytes", profile->bytes);
    json_write_int64_key(w, "count", profile->count);
    json_key(w, "groups");
    json_open_array(w);
    for (uint32_t i = 0; i < profile->group_count; i++) {
        json_open_object(w);
        json_write_string_key(w, "kind", profile->groups[i].kind);
        json_write_string_key(w, "device", profile->groups[i].device);
        json_write_int64_key(w, "bytes", profile->groups[i].bytes);
        json_write_int64_key(w, "count", profile->groups[i].count);
        json_close_object(w);
    }
    json_close_array(w);
}

// --- Columns ---

// A column of one field of an array of structs: `size` apart, the first at `first`. -1 for DEVICE_MEMORY_NONE.
static void write_indexes(struct json_writer *w, const char *key, const void *first, size_t count, size_t size) {
    const char *at = first;
    json_key(w, key);
    json_open_array(w);
    for (size_t i = 0; i < count; i++, at += size) {
        uint32_t index;
        memcpy(&index, at, sizeof index);
        json_write_int64(w, index == DEVICE_MEMORY_NONE ? -1 : (int64_t)index);
    }
    json_close_array(w);
}

static void write_sizes(struct json_writer *w, const char *key, const void *first, size_t count, size_t size) {
    const char *at = first;
    json_key(w, key);
    json_open_array(w);
    for (size_t i = 0; i < count; i++, at += size) {
        int64_t value;
        memcpy(&value, at, sizeof value);
        json_write_int64(w, value);
    }
    json_close_array(w);
}

static void write_figures(struct json_writer *w, const struct device_memory_figures *first, size_t count, size_t size) {
    write_sizes(w, "self_bytes", &first->self_bytes, count, size);
    write_sizes(w, "self_count", &first->self_count, count, size);
    write_sizes(w, "total_bytes", &first->total_bytes, count, size);
    write_sizes(w, "total_count", &first->total_count, count, size);
}

static void write_groups(const struct device_memory_profile *profile, struct string_table *strings,
                         struct json_writer *w) {
    const struct device_memory_group *groups = profile->groups;
    size_t count = profile->group_count;
    json_key(w, "groups");
    json_open_object(w);
    json_key(w, "kind");
    json_open_array(w);
    for (size_t i = 0; i < count; i++) json_write_int64(w, string_table_put(strings, groups[i].kind));
    json_close_array(w);
    json_key(w, "device");
    json_open_array(w);
    for (size_t i = 0; i < count; i++) json_write_int64(w, string_table_put(strings, groups[i].device));
    json_close_array(w);
    write_sizes(w, "bytes", &groups->bytes, count, sizeof *groups);
    write_sizes(w, "count", &groups->count, count, sizeof *groups);
    json_close_object(w);
}

static void write_functions(const struct device_memory_profile *profile, struct string_table *strings,
                            struct json_writer *w) {
    const struct device_memory_function *functions = profile->functions;
    json_key(w, "functions");
    json_open_object(w);
    json_key(w, "name");
    json_open_array(w);
    for (size_t i = 0; i < profile->function_count; i++)
        json_write_int64(w, string_table_put(strings, functions[i].name));
    json_close_array(w);
    json_key(w, "file");
    json_open_array(w);
    for (size_t i = 0; i < profile->function_count; i++)
        json_write_int64(w, string_table_put(strings, functions[i].file));
    json_close_array(w);
    json_key(w, "is_library");
    json_open_array(w);
    for (size_t i = 0; i < profile->function_count; i++) json_write_bool(w, functions[i].is_library);
    json_close_array(w);
    json_close_object(w);
}

static void write_frames(const struct device_memory_profile *profile, struct json_writer *w) {
    const struct device_memory_frame *frames = profile->frames;
    json_key(w, "frames");
    json_open_object(w);
    write_indexes(w, "function", &frames->function, profile->frame_count, sizeof *frames);
    write_sizes(w, "line", &frames->line, profile->frame_count, sizeof *frames);
    json_close_object(w);
}

static void write_tree(const struct device_memory_tree *tree, struct json_writer *w) {
    json_key(w, "nodes");
    json_open_object(w);
    write_indexes(w, "parent", &tree->nodes->parent, tree->node_count, sizeof *tree->nodes);
    write_indexes(w, "frame", &tree->nodes->frame, tree->node_count, sizeof *tree->nodes);
    write_figures(w, &tree->nodes->figures, tree->node_count, sizeof *tree->nodes);
    json_close_object(w);
    json_key(w, "parts");
    json_open_object(w);
    write_indexes(w, "node", &tree->parts->node, tree->part_count, sizeof *tree->parts);
    write_indexes(w, "group", &tree->parts->group, tree->part_count, sizeof *tree->parts);
    write_figures(w, &tree->parts->figures, tree->part_count, sizeof *tree->parts);
    json_close_object(w);
    json_key(w, "top");
    json_open_object(w);
    write_indexes(w, "function", &tree->top->function, tree->top_count, sizeof *tree->top);
    write_figures(w, &tree->top->figures, tree->top_count, sizeof *tree->top);
    json_close_object(w);
}

bool device_memory_columns_write(const struct device_memory_profile *profile, const struct device_memory_tree *tree,
                                 struct arena *arena, struct json_writer *w, struct error *error) {
    struct string_table strings;
    if (!string_table_init(&strings, arena))
        return error_set(error, ERROR_TOO_BIG, "There is not enough memory for this request.");
    write_groups(profile, &strings, w);
    write_functions(profile, &strings, w);
    write_frames(profile, w);
    write_tree(tree, w);
    string_table_write(&strings, w);
    if (!string_table_has_failed(&strings)) return true;
    return error_set(error, ERROR_TOO_BIG, "There is not enough memory for this request.");
}
