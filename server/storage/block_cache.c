#include "server/storage/block_cache.h"

#include <pthread.h>
#include <stdlib.h>

enum { BUCKETS = 1 << 14 };

struct block {
    struct file_version of;
    uint64_t number;
    struct block *next_in_bucket;
    struct block *newer, *older;
    size_t size;
    uint8_t bytes[];
};

struct block_cache {
    pthread_mutex_t lock;
    size_t limit_bytes, used_bytes;
    struct block *newest, *oldest;
    struct block *buckets[BUCKETS];
};

struct block_cache *block_cache_new(size_t limit_bytes) {
    struct block_cache *cache = calloc(1, sizeof *cache);
    if (!cache) return NULL;
    cache->limit_bytes = limit_bytes;
    pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

void block_cache_free(struct block_cache *cache) {
    if (!cache) return;
    for (struct block *block = cache->newest, *older; block; block = older) {
        older = block->older;
        free(block);
    }
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

static struct block **bucket_of(struct block_cache *cache, const struct file_version *of, uint64_t number) {
    uint64_t mixed = (of->device ^ of->inode * 31 ^ number * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
    return &cache->buckets[mixed >> 50];
}

static struct block *find(struct block_cache *cache, const struct file_version *of, uint64_t number) {
    struct block *block = *bucket_of(cache, of, number);
    while (block && (block->number != number || !file_version_equal(&block->of, of))) block = block->next_in_bucket;
    return block;
}

static void unlink_block(struct block_cache *cache, struct block *block) {
    *(block->newer ? &block->newer->older : &cache->newest) = block->older;
    *(block->older ? &block->older->newer : &cache->oldest) = block->newer;
}

static void make_newest(struct block_cache *cache, struct block *block) {
    block->newer = NULL;
    block->older = cache->newest;
    *(cache->newest ? &cache->newest->newer : &cache->oldest) = block;
    cache->newest = block;
}

static void drop_oldest(struct block_cache *cache) {
    struct block *block = cache->oldest, **place = bucket_of(cache, &block->of, block->number);
    while (*place != block) place = &(*place)->next_in_bucket;
    *place = block->next_in_bucket;
    cache->oldest = block->newer;
    *(block->newer ? &block->newer->older : &cache->newest) = NULL;
    cache->used_bytes -= sizeof *block + block->size;
    free(block);
}

size_t block_cache_copy(struct block_cache *cache, const struct file_version *of, uint64_t number, size_t skipped,
                        uint8_t *to, size_t size) {
    size_t copied = 0;
    pthread_mutex_lock(&cache->lock);
    struct block *block = find(cache, of, number);
    if (block && skipped < block->size) {
        copied = size < block->size - skipped ? size : block->size - skipped;
        memcpy(to, block->bytes + skipped, copied);
        unlink_block(cache, block);
        make_newest(cache, block);
    }
    pthread_mutex_unlock(&cache->lock);
    return copied;
}

bool block_cache_has(struct block_cache *cache, const struct file_version *of, uint64_t number) {
    pthread_mutex_lock(&cache->lock);
    bool is_there = find(cache, of, number);
    pthread_mutex_unlock(&cache->lock);
    return is_there;
}

static void insert(struct block_cache *cache, struct block *block) {
    struct block **place = bucket_of(cache, &block->of, block->number);
    block->next_in_bucket = *place;
    *place = block;
    make_newest(cache, block);
    cache->used_bytes += sizeof *block + block->size;
    while (cache->used_bytes > cache->limit_bytes && cache->oldest) drop_oldest(cache);
}

void block_cache_put(struct block_cache *cache, const struct file_version *of, uint64_t number, struct bytes bytes) {
    struct block *block = malloc(sizeof *block + bytes.size);
    if (!block) return;
    *block = (struct block){.of = *of, .number = number, .size = bytes.size};
    memcpy(block->bytes, bytes.data, bytes.size);
    pthread_mutex_lock(&cache->lock);
    bool is_new = !find(cache, of, number);
    if (is_new) insert(cache, block);
    pthread_mutex_unlock(&cache->lock);
    if (!is_new) free(block);
}
