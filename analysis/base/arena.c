#include "analysis/base/arena.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/base/large_block.h"
#include "analysis/base/refused_memory.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(at, size) ASAN_POISON_MEMORY_REGION(at, size)
#define UNPOISON(at, size) ASAN_UNPOISON_MEMORY_REGION(at, size)
enum { RED_ZONE_BYTES = 16 };
#else
#define POISON(at, size) ((void)(at), (void)(size))
#define UNPOISON(at, size) ((void)(at), (void)(size))
enum { RED_ZONE_BYTES = 0 };
#endif

// Where coverage is measured the system is asked for each piece, and not for each block only: so tests/faults, which
// lets one call fail at a time, comes to every piece that there is no memory for.
#ifdef ARENA_ASKS_FOR_EACH_PIECE
static bool is_refused(void) {
    void *piece = malloc(1);
    bool is_refused = !memory_or_refusal(piece);
    free(piece);
    return is_refused;
}
#else
static bool is_refused(void) {
    return false;
}
#endif

enum { USUAL_TEXT_BYTES = 256 };
enum { ALIGNMENT = 16, FIRST_BLOCK_BYTES = 16 << 10, LARGEST_BLOCK_BYTES = 4 << 20 };

struct arena_block {
    struct arena_block *previous;
    size_t capacity;
    size_t used;
    _Alignas(ALIGNMENT) uint8_t data[];
};

void arena_init(struct arena *arena, size_t limit_bytes) {
    *arena = (struct arena){.limit_bytes = limit_bytes, .next_block_bytes = FIRST_BLOCK_BYTES};
}

void arena_begin_with(struct arena *arena, size_t block_bytes) {
    arena->next_block_bytes = block_bytes;
}

void arena_free(struct arena *arena) {
    for (struct arena_block *block = arena->last; block;) {
        struct arena_block *previous = block->previous;
        UNPOISON(block->data, block->capacity);
        large_block_free(block, sizeof *block + block->capacity);
        block = previous;
    }
    arena_init(arena, arena->limit_bytes);
}

// Behind the block that `arena` fills now.
void arena_adopt(struct arena *arena, struct arena *other) {
    struct arena_block **behind = arena->last ? &arena->last->previous : &arena->last;
    struct arena_block *first = other->last;
    while (first && first->previous) first = first->previous;
    if (first) {
        first->previous = *behind;
        *behind = other->last;
    }
    arena->used_bytes += other->used_bytes;
    arena_init(other, other->limit_bytes);
}

static bool within_limit(const struct arena *arena, size_t more) {
    return arena->limit_bytes == 0 || (more <= arena->limit_bytes && arena->used_bytes <= arena->limit_bytes - more);
}

static struct arena_block *add_block(struct arena *arena, size_t at_least) {
    size_t usual = arena->next_block_bytes - sizeof(struct arena_block);  // so that a block fills whole pages
    size_t capacity = at_least > usual ? at_least : usual;
    if (capacity < SIZE_MAX / 2)
        capacity = large_block_size(sizeof(struct arena_block) + capacity) - sizeof(struct arena_block);
    if (!within_limit(arena, capacity)) capacity = at_least;
    if (!within_limit(arena, capacity) || capacity > SIZE_MAX - sizeof(struct arena_block)) return NULL;
    struct arena_block *block = large_block_new(sizeof(struct arena_block) + capacity);
    if (!block) return NULL;
    *block = (struct arena_block){.previous = arena->last, .capacity = capacity};
    POISON(block->data, capacity);
    arena->last = block;
    arena->used_bytes += capacity;
    while (arena->next_block_bytes < LARGEST_BLOCK_BYTES && arena->next_block_bytes <= at_least) {
        arena->next_block_bytes *= 2;
    }
    if (arena->next_block_bytes < LARGEST_BLOCK_BYTES) arena->next_block_bytes *= 2;
    return block;
}

void *arena_push_raw(struct arena *arena, size_t count, size_t size) {
    size_t wanted, rounded;
    if (__builtin_mul_overflow(count, size, &wanted)) return NULL;
    if (__builtin_add_overflow(wanted, ALIGNMENT - 1 + RED_ZONE_BYTES, &rounded)) return NULL;
    rounded &= ~(size_t)(ALIGNMENT - 1);
    if (is_refused()) return NULL;
    struct arena_block *block = arena->last;
    if (!block || block->capacity - block->used < rounded) block = add_block(arena, rounded);
    if (!block) return NULL;
    void *result = block->data + block->used;
    block->used += rounded;
    UNPOISON(result, wanted);
    return result;
}

void *arena_push(struct arena *arena, size_t count, size_t size) {
    void *result = arena_push_raw(arena, count, size);
    if (result && count && size) memset(result, 0, count * size);
    return result;
}

char *arena_string(struct arena *arena, struct bytes text) {
    if (text.size == SIZE_MAX) return NULL;
    char *copy = arena_push_raw(arena, text.size + 1, 1);
    if (!copy) return NULL;
    if (text.size) memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    return copy;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list arguments) {
    char usual[USUAL_TEXT_BYTES];
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(usual, sizeof usual, format, arguments);
    char *text = length < 0 ? NULL : arena_push_raw(arena, (size_t)length + 1, 1);
    if (text && (size_t)length < sizeof usual)
        memcpy(text, usual, (size_t)length + 1);
    else if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *arena_printf(struct arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_vprintf(arena, format, arguments);
    va_end(arguments);
    return text;
}
