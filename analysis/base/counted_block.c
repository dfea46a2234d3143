#include "analysis/base/counted_block.h"

#include <stddef.h>
#include <stdlib.h>

#include "analysis/base/memory_room.h"

// Before each block, so that its size is known when it is freed.
union head {
    size_t bytes;  // with the head
    max_align_t aligned;
};

void *counted_block_new(void *of, unsigned count, unsigned size) {
    (void)of;
    size_t bytes = sizeof(union head) + (size_t)count * size;
    if (!memory_room_take(bytes)) return NULL;
    union head *head = malloc(bytes);
    if (!head) {
        memory_room_give(bytes);
        return NULL;
    }
    head->bytes = bytes;
    return head + 1;
}

void counted_block_free(void *of, void *block) {
    (void)of;
    if (!block) return;
    union head *head = (union head *)block - 1;
    memory_room_give(head->bytes);
    free(head);
}
