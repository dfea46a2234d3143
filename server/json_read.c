#include "server/json_read.h"

#include <setjmp.h>
#include <stdlib.h>

#include "analysis/base/refused_memory.h"

// What one thread reads. Not on the stack of json_read: a jump leaves nothing certain of what changed there.
struct reading {
    bool is_going;
    jmp_buf end;
    void **blocks;  // allocated since it began, and not freed, but for the late ones
    size_t count, room;
    void *late;  // freed by jansson, and far back among the blocks: each holds the next
};

static _Thread_local struct reading reading;

// --- Memory while something is read ---

static bool has_room(void) {
    enum { FIRST = 64 };
    if (reading.count < reading.room) return true;
    size_t room = reading.room ? 2 * reading.room : FIRST;
    void **blocks = memory_or_refusal(realloc(reading.blocks, room * sizeof *blocks));
    if (!blocks) return false;
    reading.blocks = blocks;
    reading.room = room;
    return true;
}

static void *allocate(size_t size) {
    bool is_noted = !reading.is_going || has_room();
    size_t least = size < sizeof(void *) ? sizeof(void *) : size;
    void *block = is_noted ? memory_or_refusal(malloc(least)) : NULL;
    if (!reading.is_going) return block;
    if (!block) longjmp(reading.end, 1);
    reading.blocks[reading.count++] = block;
    return block;
}

// What is freed while something is read is mostly what was allocated last. False: it lies further back than is looked.
static bool forget(const void *block) {
    enum { NEAR = 64 };
    for (size_t i = reading.count, looked = 0; i-- > 0 && looked < NEAR; looked++) {
        if (reading.blocks[i] != block) continue;
        reading.blocks[i] = reading.blocks[--reading.count];
        return true;
    }
    return false;
}

static void release(void *block) {
    if (!reading.is_going || !block || forget(block)) {
        free(block);
        return;
    }
    *(void **)block = reading.late;
    reading.late = block;
}

void json_read_begin(void) {
    json_set_alloc_funcs(allocate, release);
}

// --- One reading ---

static void end_reading(bool is_refused) {
    for (void *late = is_refused ? NULL : reading.late, *next; late; late = next) {
        next = *(void **)late;
        free(late);
    }
    for (size_t i = 0; is_refused && i < reading.count; i++) free(reading.blocks[i]);
    free(reading.blocks);
    reading = (struct reading){0};
}

json_t *json_read(struct bytes text, size_t flags, json_error_t *fault) {
    if (fault) *fault = (json_error_t){.text = "there was no memory for it"};
    if (setjmp(reading.end) != 0) {
        end_reading(true);
        return NULL;
    }
    reading.is_going = true;
    json_t *document = json_loadb((const char *)text.data, text.size, flags, fault);
    end_reading(false);
    return document;
}
