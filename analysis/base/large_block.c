#define _DEFAULT_SOURCE  // madvise
#include "analysis/base/large_block.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

static const size_t HUGE_PAGE_BYTES = (size_t)2 << 20;

void *large_block_new(size_t size) {
    if (size < LARGE_BLOCK_BYTES) return malloc(size);
    if (size > SIZE_MAX - HUGE_PAGE_BYTES) return NULL;
    size_t rounded = (size + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
    void *block = aligned_alloc(HUGE_PAGE_BYTES, rounded);
#ifdef MADV_HUGEPAGE
    if (block) madvise(block, rounded, MADV_HUGEPAGE);
#endif
    return block;
}
