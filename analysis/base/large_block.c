#define _GNU_SOURCE  // madvise, mremap
#include "analysis/base/large_block.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "analysis/base/memory_room.h"
#include "analysis/base/refused_memory.h"

// Sanitizers know malloc, but not where mremap moves things.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LARGE_BLOCK_IS_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LARGE_BLOCK_IS_WATCHED 1
#endif
#endif

static const size_t HUGE_PAGE_BYTES = (size_t)2 << 20;

size_t large_block_size(size_t size) {
    if (size < LARGE_BLOCK_BYTES || size > SIZE_MAX / 2) return size;
    return (size + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
}

static void *take_block(size_t size) {
    if (size < LARGE_BLOCK_BYTES) return malloc(size);
    void *block = aligned_alloc(HUGE_PAGE_BYTES, size);
#ifdef MADV_HUGEPAGE
    if (block) madvise(block, size, MADV_HUGEPAGE);
#endif
    return block;
}

void *large_block_new(size_t size) {
    size_t taken = large_block_size(size);
    if (size > SIZE_MAX / 2) return NULL;
    if (!memory_room_take(taken)) return memory_or_refusal(NULL);
    void *block = memory_or_refusal(take_block(taken));
    if (!block) memory_room_give(taken);
    return block;
}

void large_block_free(void *block, size_t size) {
    if (block) memory_room_give(large_block_size(size));
    free(block);
}

void *large_block_shrink(void *block, size_t had, size_t size) {
    size_t takes = large_block_size(size), took = large_block_size(had);
    void *smaller = takes < took ? take_block(takes) : NULL;
    if (!smaller) return NULL;
    memory_room_give(took - takes);
    memcpy(smaller, block, size);
    free(block);
    return smaller;
}

// --- Growing blocks ---

enum { SMALLEST_GROWING_BYTES = 64 << 10 };

#ifdef LARGE_BLOCK_IS_WATCHED  // so that the sanitizer sees what is lost, and what is read beyond the end

static void *resize(void *data, size_t had, size_t wanted) {
    uint8_t *larger = memory_or_refusal(realloc(data, wanted));
    if (larger) memset(larger + had, 0, wanted - had);
    return larger;
}

static void give_back(void *data, size_t size) {
    (void)size;
    free(data);
}

void large_block_forget(void *from, size_t size) {
    memset(from, 0, size);
}

#else

static void *resize(void *data, size_t had, size_t wanted) {
    void *larger = data
                       ? mremap(data, had, wanted, MREMAP_MAYMOVE)
                       : mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (larger == MAP_FAILED) return memory_or_refusal(NULL);
    if (wanted >= LARGE_BLOCK_BYTES) madvise(larger, wanted, MADV_HUGEPAGE);
    return larger;
}

static void give_back(void *data, size_t size) {
    if (data) munmap(data, size);
}

void large_block_forget(void *from, size_t size) {
    madvise(from, size, MADV_DONTNEED);
}

#endif

// Whole smallest blocks, so that a capacity is whole pages. 0 when that is beyond any memory.
static size_t grown_capacity(size_t capacity, size_t wanted) {
    size_t doubled = capacity > SIZE_MAX / 2 ? SIZE_MAX : 2 * capacity;
    size_t enough = doubled > wanted ? doubled : wanted;
    if (enough > SIZE_MAX - SMALLEST_GROWING_BYTES) return 0;
    return (enough + SMALLEST_GROWING_BYTES - 1) & ~((size_t)SMALLEST_GROWING_BYTES - 1);
}

bool large_block_reserve(struct growing_block *block, size_t size) {
    if (size <= block->capacity_bytes && block->data) return true;
    size_t capacity = grown_capacity(block->capacity_bytes, size ? size : 1);
    if (!capacity) return false;
    if (!memory_room_take(capacity - block->capacity_bytes)) return memory_or_refusal(NULL);
    void *data = resize(block->data, block->capacity_bytes, capacity);
    if (!data) {
        memory_room_give(capacity - block->capacity_bytes);
        return false;
    }
    *block = (struct growing_block){data, capacity};
    return true;
}

void large_block_release(struct growing_block *block) {
    give_back(block->data, block->capacity_bytes);
    memory_room_give(block->capacity_bytes);
    *block = (struct growing_block){0};
}
