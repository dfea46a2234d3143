// Memory events on their way into columns: read as rows in the order of the file, put in order by small keys, and then
// written once, to where they stay.
//
//     rows       of thread 1, of thread 2, ...               each thread's nearly always by time already
//                \__ part 0 __/ \__ part 1 __/               one part, or two that were read at once
//     places     { timeline, time, row } ...                 what is sorted: by timeline, then time, else as they were
//     columns    [ times ... | heap ... | ... | flags ... ]  one block: huge pages for short columns too
//
// What is 0 throughout (a stack) is not written and takes no memory.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/large_block.h"
#include "proto/bytes.h"

#define MEMORY_EVENT_NONE UINT32_MAX

enum memory_event_flag {
    MEMORY_EVENT_IS_FREE = 1,                // a MemoryDeallocation; else a MemoryAllocation
    MEMORY_EVENT_STEP_IS_COMPLETED = 2,      // no step was known for the event itself
    MEMORY_EVENT_HAS_STATE = 4,              // the event told bytes_allocated; else heap, stack, free say nothing (0)
    MEMORY_EVENT_INTEGER_FRAGMENTATION = 8,  // written as an integer, which XProf reads as 0
};

#define STEP_UNKNOWN INT64_MIN  // no step is known for the row

// A line of the host plane: what COLUMN_THREAD counts.
struct memory_thread {
    struct bytes name;
    int64_t id;
    int64_t begin_ps;  // the line's own start: an event's time relative to its line is time_ps - begin_ps
};

// --- Rows ---

struct memory_row {
    int64_t time_ps, heap_bytes, stack_bytes, free_bytes, peak_bytes, step;
    double fragmentation;
    uint64_t address;
    uint32_t site, thread, timeline;
    uint8_t flags;
};

struct memory_rows {
    struct growing_block block;
    uint32_t count;
};

static inline struct memory_row *memory_rows_all(const struct memory_rows *rows) {
    return rows->block.data;
}

// Room for so many rows at once, which costs nothing until they come. Not having it is no error.
void memory_rows_expect(struct memory_rows *rows, uint64_t count);

// False when there is no memory.
bool memory_rows_add(struct memory_rows *rows, const struct memory_row *row);
void memory_rows_release(struct memory_rows *rows);

// --- Places ---

struct memory_place {
    int64_t time_ps;
    uint32_t timeline, row;  // the row counts through the parts
};

// Sorts `count` places. False when there is no memory.
bool memory_places_sort(struct growing_block *places, uint32_t count);

// --- Columns ---

enum memory_column {
    COLUMN_TIME,  // int64, as is what follows
    COLUMN_HEAP,
    COLUMN_STACK,
    COLUMN_FREE,
    COLUMN_PEAK,
    COLUMN_FRAGMENTATION,  // double
    COLUMN_ADDRESS,        // uint64
    COLUMN_STEP,           // int64
    COLUMN_SITE,           // uint32
    COLUMN_PARTNER,        // left at 0
    COLUMN_THREAD,
    COLUMN_FLAGS,  // uint8
    COLUMN_COUNT,
};

struct memory_columns {
    struct growing_block block;
    void *column[COLUMN_COUNT];  // parts of the block
    uint32_t count;
};

enum { MEMORY_COLUMNS_MAX_PARTS = 2 };

// The rows of the parts, which follow each other in the file, in the order of `places`. False when there is no memory.
bool memory_columns_make(struct memory_columns *columns, const struct memory_rows *const parts[], size_t part_count,
                         const struct memory_place *places);
void memory_columns_release(struct memory_columns *columns);

// What the rows take; room that was never used takes nothing.
size_t memory_columns_bytes(const struct memory_columns *columns);

static inline int64_t *memory_column_int64(const struct memory_columns *columns, enum memory_column column) {
    return columns->column[column];
}
static inline uint32_t *memory_column_uint32(const struct memory_columns *columns, enum memory_column column) {
    return columns->column[column];
}
