// What is told of blocks that run again, as evidence: what they drop, and what they keep instead.
#pragma once

#include "analysis/advice/block_stages.h"

enum kept { KEEPS_INPUTS, KEEPS_PRODUCTS, KEEPS_ON_HOST };

void say_dropped_by_blocks(struct advisor *advisor, const struct residuals *residuals, struct advice_item *item);
void say_kept_by_blocks(struct advisor *advisor, enum kept kept, const struct block_stages *stages,
                        struct advice_item *item);

// Of scattered_numbers.h, `bytes` of them.
void say_numbers_of_blocks(struct advisor *advisor, int64_t bytes, struct advice_item *item);
