// Who holds the memory at a step, as rows: the same for scripts, for the page and for CSV.
//
//     {"by": "source", "step": 1204, "rows": [{"key", "size_bytes", "padding_bytes", "buffers", "share"}],
//      "left_out": 11, "left_out_bytes": 123}
//
// size_bytes of the rows and left_out_bytes sum to the live bytes of the step. share is of the weight, which is
// said where it is not the size: {"weight": "size_x_lifetime", "rows": [{..., "size_x_lifetime"}]}.
#pragma once

#include "analysis/groups/group_steps.h"
#include "server/text/fields.h"

struct group_row {
    struct bytes key;
    int64_t size_bytes, padding_bytes, size_x_lifetime;
    uint32_t buffers, first_member;
    double share;
    struct bytes about, place;  // group_facts.h
    const char *phase_rule;
    struct bytes phase_evidence;
};

// key, size_bytes, padding_bytes, buffers, and what the weight is where that is not among them.
const struct field *group_csv_fields(enum memory_group_weight weight);

struct group_row group_row_of(const struct memory_groups *groups, uint32_t row);

// What the group is about; only the columns tell it.
void group_row_add_facts(struct group_row *row, const struct group_facts *facts);

// What is not among the first `shown` rows, in one; it has no key.
struct group_row group_rest(const struct memory_groups *groups, uint32_t shown);

// The columns of all rows and their members, keys of an open object: what a page draws.
void groups_json_write_columns(const struct group_steps *steps, const struct memory_groups *groups,
                               const struct group_row *rows, struct json_writer *w);

// The key of each row of the view, live at some step or other, keys of an open object: "key_of_row" are indexes of
// "strings".
void groups_json_write_keys(const struct group_steps *steps, struct json_writer *w);

// An object of the first `shown` rows.
void groups_json_write(const struct memory_grouping *grouping, const struct memory_groups *groups, uint32_t shown,
                       struct json_writer *w);
