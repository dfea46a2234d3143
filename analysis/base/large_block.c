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

enum { SMALLEST_GROWING_BYTES = 64 << 10 };

static size_t grown_capacity(size_t capacity, size_t wanted) {
    size_t doubled = capacity > SIZE_MAX / 2 ? SIZE_MAX : 2 * capacity;
    size_t enough = doubled > wanted ? doubled : wanted;
    return enough > SMALLEST_GROWING_BYTES ? enough : SMALLEST_GROWING_BYTES;
}

bool large_block_reserve(struct growing_block *block, size_t size) {
    if (size <= block->capacity_bytes) return true;
    size_t capacity = grown_capacity(block->capacity_bytes, size);
    void *data = block->data ? realloc(block->data, capacity) : large_block_new(capacity);
    if (!data) return false;
    bool is_advised = !block->data || capacity < LARGE_BLOCK_BYTES;
    *block = (struct growing_block){data, capacity};
    if (is_advised) return true;
#ifdef MADV_HUGEPAGE
    uintptr_t first = ((uintptr_t)data + HUGE_PAGE_BYTES - 1) & ~(uintptr_t)(HUGE_PAGE_BYTES - 1);
    uintptr_t end = ((uintptr_t)data + capacity) & ~(uintptr_t)(HUGE_PAGE_BYTES - 1);
    if (first < end) madvise((void *)first, end - first, MADV_HUGEPAGE);
#endif
    return true;
}

void large_block_release(struct growing_block *block) {
    free(block->data);
    *block = (struct growing_block){0};
}
