// Allocation sites while a profile is read: from the texts' numbers and the sizes to the number of the site.
#pragma once

#include "analysis/profile/events/allocation_site.h"
#include "analysis/profile/events/text_table.h"

struct site_key {
    uint32_t op, region_type, shape;  // numbers of texts
    int64_t data_type, requested_bytes, allocated_bytes;
};

enum { SITE_TABLE_RECENT = 1 << 12 };

struct site_table {
    struct growing_block keys;
    uint32_t count;
    struct index_table index;
    uint64_t seed;
    // The last site of each cheap hash: most events are of a site that was seen shortly before.
    uint32_t recent[SITE_TABLE_RECENT];
};

void site_table_init(struct site_table *table);
void site_table_release(struct site_table *table);

// INDEX_NONE when there is no memory.
uint32_t site_table_put(struct site_table *table, const struct site_key *key);

// The sites with their texts, on `arena`. False when that is at its limit.
bool site_table_finish(const struct site_table *table, const struct text_table *texts, struct arena *arena,
                       struct allocation_sites *sites);
