#include "server/document/device_memory_json.h"

const struct field device_memory_group_fields[] = {
    FIELD("kind", struct device_memory_group, kind),
    FIELD("device", struct device_memory_group, device),
    FIELD("bytes", struct device_memory_group, bytes),
    FIELD("count", struct device_memory_group, count),
    FIELD_END,
};

static const struct field function_fields[] = {
    FIELD("name", struct device_memory_function, name),
    FIELD("file", struct device_memory_function, file),
    FIELD("is_library", struct device_memory_function, is_library),
    FIELD_END,
};

static const struct field frame_fields[] = {
    FIELD_AS("function", struct device_memory_frame, function, FIELD_INDEX),
    FIELD("line", struct device_memory_frame, line),
    FIELD_END,
};

const struct field device_memory_figure_fields[] = {
    FIELD("self_bytes", struct device_memory_figures, self_bytes),
    FIELD("self_count", struct device_memory_figures, self_count),
    FIELD("total_bytes", struct device_memory_figures, total_bytes),
    FIELD("total_count", struct device_memory_figures, total_count),
    FIELD_END,
};

static const struct field node_fields[] = {
    FIELD_AS("parent", struct device_memory_node, parent, FIELD_INDEX),
    FIELD_AS("frame", struct device_memory_node, frame, FIELD_INDEX),
    FIELD_END,
};

static const struct field part_fields[] = {
    FIELD_AS("node", struct device_memory_part, node, FIELD_INDEX),
    FIELD_AS("group", struct device_memory_part, group, FIELD_INDEX),
    FIELD_END,
};

static const struct field top_fields[] = {
    FIELD_AS("function", struct device_memory_top, function, FIELD_INDEX),
    FIELD_END,
};

void device_memory_totals_write(const struct device_memory_profile *profile, struct json_writer *w) {
    json_write_int64_key(w, "bytes", profile->bytes);
    json_write_int64_key(w, "count", profile->count);
    fields_write_objects_key(w, "groups", device_memory_group_fields, profile->groups, profile->group_count,
                             sizeof *profile->groups);
}

// An object of columns; `figures` are those of the first row, NULL where rows have none.
static void write_columns(struct json_writer *w, const char *key, const struct field *fields, const void *rows,
                          const struct device_memory_figures *figures, size_t count, size_t row_size,
                          struct string_table *strings) {
    json_open_object_key(w, key);
    fields_write_columns(w, fields, rows, count, row_size, strings);
    if (figures) fields_write_columns(w, device_memory_figure_fields, figures, count, row_size, NULL);
    json_close_object(w);
}

bool device_memory_columns_write(const struct device_memory_profile *profile, const struct device_memory_tree *tree,
                                 struct arena *arena, struct json_writer *w, struct error *error) {
    struct string_table strings;
    bool is_good = string_table_init(&strings, arena);
    if (is_good) {
        write_columns(w, "groups", device_memory_group_fields, profile->groups, NULL, profile->group_count,
                      sizeof *profile->groups, &strings);
        write_columns(w, "functions", function_fields, profile->functions, NULL, profile->function_count,
                      sizeof *profile->functions, &strings);
        write_columns(w, "frames", frame_fields, profile->frames, NULL, profile->frame_count, sizeof *profile->frames,
                      NULL);
        write_columns(w, "nodes", node_fields, tree->nodes, &tree->nodes->figures, tree->node_count,
                      sizeof *tree->nodes, NULL);
        write_columns(w, "parts", part_fields, tree->parts, &tree->parts->figures, tree->part_count,
                      sizeof *tree->parts, NULL);
        write_columns(w, "top", top_fields, tree->top, &tree->top->figures, tree->top_count, sizeof *tree->top, NULL);
        string_table_write(&strings, w);
        is_good = !string_table_has_failed(&strings);
    }
    return is_good || error_set(error, ERROR_TOO_BIG, "There is not enough memory for this request.");
}
