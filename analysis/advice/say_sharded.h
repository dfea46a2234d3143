// What is told of a program on several chips: what each of them has whole, and when.
#pragma once

#include "analysis/advice/sharded.h"

void say_sharded(const struct advisor *advisor, const struct sharded *sharded, struct advice_item *item);
