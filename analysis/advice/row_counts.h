// How many rows arrays have, each number once: those that edges read, those of inputs that follow the batch.
//
//     nodes [120000,128]   labels [120000]   ends [800000]  ->  {120000, 800000}
//
// What does not fit is left out.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { ROW_COUNTS_MAX = 64 };

struct row_counts {
    int64_t rows[ROW_COUNTS_MAX];
    int count;
};

static inline bool row_counts_have(const struct row_counts *list, int64_t rows) {
    for (int i = 0; i < list->count; i++) {
        if (list->rows[i] == rows) return true;
    }
    return false;
}

static inline int64_t row_counts_most(const struct row_counts *list) {
    int64_t most = 0;
    for (int i = 0; i < list->count; i++) most = list->rows[i] > most ? list->rows[i] : most;
    return most;
}

static inline void row_counts_add(struct row_counts *list, int64_t rows) {
    if (list->count < ROW_COUNTS_MAX && !row_counts_have(list, rows)) list->rows[list->count++] = rows;
}
