// Allocation sites while a profile is read: from the texts' numbers and the sizes to the number of the site.
#pragma once

#include "analysis/profile/events/allocation_site.h"
#include "analysis/base/large_block.h"
#include "analysis/base/string_table.h"

#define SITE_NONE UINT32_MAX

struct site_key {
    uint32_t op, region_type, shape;  // numbers of texts
    int64_t data_type, requested_bytes, allocated_bytes;
};

enum { SITE_TABLE_RECENT = 1 << 12 };

struct site_table {
    struct growing_block keys;
    uint32_t count;
    struct id_map site_of;  // by hash of the key, or the next number that is free
    // The last site of each cheap hash: most events are of a site that was seen shortly before.
    uint32_t recent[SITE_TABLE_RECENT];
};

// False when the arena is at its limit.
bool site_table_init(struct site_table *table, struct arena *arena);
void site_table_release(struct site_table *table);

// SITE_NONE when there is no memory.
uint32_t site_table_put(struct site_table *table, const struct site_key *key);

// The sites with their texts, on `arena`. False when that is at its limit.
bool site_table_finish(const struct site_table *table, const struct string_table *texts, struct arena *arena,
                       struct allocation_sites *sites);
