#include "server/document/groups_json.h"

static const struct field group_fields[] = {
    FIELD("key", struct group_row, key),
    FIELD("size_bytes", struct group_row, size_bytes),
    FIELD("padding_bytes", struct group_row, padding_bytes),
    FIELD("buffers", struct group_row, buffers),
    FIELD("share", struct group_row, share),
    FIELD_END,
};

static const struct field lifetime_field[] = {
    FIELD("size_x_lifetime", struct group_row, size_x_lifetime),
    FIELD_END,
};

static const struct field csv_fields[] = {
    FIELD("key", struct group_row, key),
    FIELD("size_bytes", struct group_row, size_bytes),
    FIELD("padding_bytes", struct group_row, padding_bytes),
    FIELD("buffers", struct group_row, buffers),
    FIELD_END,
};

static const struct field csv_fields_with_lifetime[] = {
    FIELD("key", struct group_row, key),
    FIELD("size_bytes", struct group_row, size_bytes),
    FIELD("padding_bytes", struct group_row, padding_bytes),
    FIELD("buffers", struct group_row, buffers),
    FIELD("size_x_lifetime", struct group_row, size_x_lifetime),
    FIELD_END,
};

const struct field *group_csv_fields(enum memory_group_weight weight) {
    return weight == GROUP_WEIGHT_SIZE_X_LIFETIME ? csv_fields_with_lifetime : csv_fields;
}

static const struct field group_columns[] = {
    FIELD("key", struct group_row, key),
    FIELD("size_bytes", struct group_row, size_bytes),
    FIELD("padding_bytes", struct group_row, padding_bytes),
    FIELD("buffers", struct group_row, buffers),
    FIELD("share", struct group_row, share),
    FIELD("first_member", struct group_row, first_member),
    FIELD("about", struct group_row, about),
    FIELD("place", struct group_row, place),
    FIELD("size_x_lifetime", struct group_row, size_x_lifetime),
    FIELD_END,
};

static const struct field phase_columns[] = {
    FIELD("phase_rule", struct group_row, phase_rule),
    FIELD("phase_evidence", struct group_row, phase_evidence),
    FIELD_END,
};

struct group_row group_row_of(const struct memory_groups *groups, uint32_t row) {
    const struct memory_group *group = &groups->rows[row];
    return (struct group_row){.key = group->key,
                              .size_bytes = group->size_bytes,
                              .padding_bytes = group->padding_bytes,
                              .size_x_lifetime = group->size_x_lifetime,
                              .buffers = group->buffers,
                              .first_member = group->first_member,
                              .share = memory_group_share(groups, group)};
}

void group_row_add_facts(struct group_row *row, const struct group_facts *facts) {
    row->about = facts->about;
    row->place = facts->place;
    row->phase_rule = buffer_phase_rule_name(facts->rule);
    row->phase_evidence = facts->evidence;
}

struct group_row group_rest(const struct memory_groups *groups, uint32_t shown) {
    struct group_row rest = {0};
    for (uint32_t i = shown; i < groups->row_count; i++) {
        rest.size_bytes += groups->rows[i].size_bytes;
        rest.padding_bytes += groups->rows[i].padding_bytes;
        rest.buffers += groups->rows[i].buffers;
        rest.share += memory_group_share(groups, &groups->rows[i]);
        if (__builtin_add_overflow(rest.size_x_lifetime, groups->rows[i].size_x_lifetime, &rest.size_x_lifetime))
            rest.size_x_lifetime = INT64_MAX;
    }
    return rest;
}

// How the keys came about.
static void write_grouping(const struct group_steps *steps, struct json_writer *w) {
    static const char *const rules[] = {[GROUP_RULE_LINES] = "lines", [GROUP_RULE_NAMES] = "names"};
    json_write_text_key(w, "by", memory_group_by_name(steps->by));
    json_write_text_key(w, "rule", steps->by == GROUP_BY_SOURCE ? rules[steps->rule] : NULL);
    json_key(w, "line_share");
    if (steps->by == GROUP_BY_SOURCE)
        json_write_double(w, steps->line_share);
    else
        json_write_null(w);
}

void groups_json_write_columns(const struct group_steps *steps, const struct memory_groups *groups,
                               const struct group_row *rows, struct json_writer *w) {
    struct json_column members = {groups->members, false, groups->member_count, sizeof *groups->members, false};
    write_grouping(steps, w);
    json_write_int64_key(w, "step", groups->step);
    json_write_text_key(w, "weight", memory_group_weight_name(groups->weight));
    json_write_int64_key(w, "live_bytes", groups->live_bytes);
    json_write_int64_key(w, "unknown_bytes", groups->unknown_bytes);
    json_open_object_key(w, "rows");
    fields_write_columns(w, group_columns, rows, groups->row_count, sizeof *rows, NULL);
    if (steps->by == GROUP_BY_PHASE)
        fields_write_columns(w, phase_columns, rows, groups->row_count, sizeof *rows, NULL);
    json_close_object(w);
    json_write_column(w, "members", members);
}

void groups_json_write_keys(const struct group_steps *steps, struct json_writer *w) {
    write_grouping(steps, w);
    json_write_uint32_column(w, "key_of_row", steps->key_of_row, steps->view_row_count);
    string_table_write(&steps->keys, w);
}

void groups_json_write(const struct memory_grouping *grouping, const struct memory_groups *groups, uint32_t shown,
                       struct json_writer *w) {
    json_open_object(w);
    json_write_text_key(w, "by", memory_group_by_name(grouping->by));
    json_write_int64_key(w, "step", groups->step);
    if (groups->weight != GROUP_WEIGHT_SIZE) json_write_text_key(w, "weight", memory_group_weight_name(groups->weight));
    json_open_array_key(w, "rows");
    for (uint32_t i = 0; i < shown; i++) {
        struct group_row row = group_row_of(groups, i);
        json_open_object(w);
        fields_write(w, group_fields, &row);
        if (groups->weight == GROUP_WEIGHT_SIZE_X_LIFETIME) fields_write(w, lifetime_field, &row);
        json_close_object(w);
    }
    json_close_array(w);
    json_write_int64_key(w, "left_out", (int64_t)groups->row_count - shown);
    json_write_int64_key(w, "left_out_bytes", group_rest(groups, shown).size_bytes);
    json_close_object(w);
}
