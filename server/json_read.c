#include "server/json_read.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/base/memory_room.h"
#include "analysis/base/refused_memory.h"

// What one thread reads. Not on the stack of json_read: a jump leaves nothing certain of what changed there.
struct reading {
    bool is_going;
    jmp_buf end;
    void **blocks;  // allocated since it began, and not freed, but for the late ones
    size_t count, room;
    size_t taken_bytes, most_bytes;
    void *late;  // freed by jansson, and far back among the blocks: each holds the next
};

static _Thread_local struct reading reading;

// --- Memory while something is read ---

// What a block takes of the room for memory, with what the allocator notes beside it.
static size_t cost_of(void *block) {
    return malloc_usable_size(block) + sizeof(size_t);
}

static void *new_block(size_t size) {
    void *block = malloc(size < sizeof(void *) ? sizeof(void *) : size);
    if (!block || memory_room_take(cost_of(block))) return memory_or_refusal(block);
    free(block);
    return memory_or_refusal(NULL);
}

static void free_block(void *block) {
    if (block) memory_room_give(cost_of(block));
    free(block);
}

static bool has_room(void) {
    enum { FIRST = 64 };
    if (reading.count < reading.room) return true;
    size_t room = reading.room ? 2 * reading.room : FIRST, more_bytes = (room - reading.room) * sizeof *reading.blocks;
    bool is_taken = memory_room_take(more_bytes);
    void **blocks = memory_or_refusal(is_taken ? realloc(reading.blocks, room * sizeof *blocks) : NULL);
    if (is_taken && !blocks) memory_room_give(more_bytes);
    if (!blocks) return false;
    reading.blocks = blocks;
    reading.room = room;
    reading.taken_bytes += more_bytes;
    return true;
}

static void *allocate(size_t size) {
    bool is_noted = !reading.is_going || has_room();
    void *block = is_noted ? new_block(size) : NULL;
    if (!reading.is_going) return block;
    if (!block) longjmp(reading.end, 1);
    reading.blocks[reading.count++] = block;
    reading.taken_bytes += cost_of(block);
    if (reading.taken_bytes > reading.most_bytes) longjmp(reading.end, 1);
    return block;
}

// What is freed while something is read is mostly what was allocated last. False: it lies further back than is looked.
static bool forget(void *block) {
    enum { NEAR = 64 };
    for (size_t i = reading.count, looked = 0; i-- > 0 && looked < NEAR; looked++) {
        if (reading.blocks[i] != block) continue;
        reading.blocks[i] = reading.blocks[--reading.count];
        reading.taken_bytes -= cost_of(block);
        return true;
    }
    return false;
}

static void release(void *block) {
    if (!reading.is_going || !block || forget(block)) {
        free_block(block);
        return;
    }
    *(void **)block = reading.late;
    reading.late = block;
}

void json_read_begin(void) {
    json_set_alloc_funcs(allocate, release);
}

// --- One reading ---

static const json_error_t too_much = {.text = "it takes more memory than such a text may"},
                          no_memory = {.text = "there was no memory for it"};

static void end_reading(bool is_refused) {
    for (void *late = is_refused ? NULL : reading.late, *next; late; late = next) {
        next = *(void **)late;
        free_block(late);
    }
    for (size_t i = 0; is_refused && i < reading.count; i++) free_block(reading.blocks[i]);
    memory_room_give(reading.room * sizeof *reading.blocks);
    free(reading.blocks);
    reading = (struct reading){0};
}

json_t *json_read_within(struct bytes text, size_t flags, size_t most_bytes, json_error_t *fault) {
    if (setjmp(reading.end) != 0) {
        if (fault) *fault = reading.taken_bytes > reading.most_bytes ? too_much : no_memory;
        end_reading(true);
        return NULL;
    }
    reading.is_going = true;
    reading.most_bytes = most_bytes;
    json_t *document = json_loadb((const char *)text.data, text.size, flags, fault);
    end_reading(false);
    return document;
}

json_t *json_read(struct bytes text, size_t flags, json_error_t *fault) {
    return json_read_within(text, flags, SIZE_MAX, fault);
}

// --- What it writes ---

void json_text_free(char *text) {
    json_free_t free_text;
    json_get_alloc_funcs(NULL, &free_text);
    free_text(text);
}
