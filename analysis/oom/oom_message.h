// One out-of-memory message as figures: what it says, and nothing it does not say.
//
//     kind                        who says it
//     compile_oom                 XLA's compiler: the sum of a memory space does not fit (two wordings)
//     tensorcore_sparsecore_oom   XLA's compiler: TensorCore and SparseCore together
//     allocation_exceeds_memory   XLA's compiler: one allocation alone
//     program_load                the TPU runtime: no room for a compiled program (0101)
//     runtime_allocation          the TPU runtime: no room for a buffer
//     gpu_allocation              XLA:GPU: no room for what a program needs
//     gpu_allocator               TensorFlow's and XLA's BFC allocator
//
// A figure that is not in the message, or was cut off, is OOM_ABSENT; a string NULL. Figures like "49.34G" are rounded
// by whoever wrote them. The strings are on the caller's arena and may hold any bytes but NUL.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"

enum { OOM_ABSENT = -1 };

enum oom_kind {
    OOM_COMPILE,
    OOM_TENSORCORE_SPARSECORE,
    OOM_ALLOCATION_EXCEEDS_MEMORY,
    OOM_PROGRAM_LOAD,
    OOM_RUNTIME_ALLOCATION,
    OOM_GPU_ALLOCATION,
    OOM_GPU_ALLOCATOR,
    OOM_KIND_COUNT,
};

struct oom_entry {  // one of the largest allocations that the message lists
    int64_t size_bytes, unpadded_bytes, padding_bytes;
    const char *op_name;
    const char *source;           // "train.py:55"
    const char *shape;            // verbatim
    const char *label;            // "fusion.1 = fusion(...), kind=kOutput"
    const char *allocation_type;  // "HLO temp"
    bool is_entry_parameter;
};

struct oom_row {       // one figure of a breakdown
    const char *name;  // as the message words it
    int64_t value;     // bytes; a count for NumAllocs
};

enum { OOM_ROWS_MAX = 48, OOM_ENTRIES_MAX = 512 };

struct oom_message {
    enum oom_kind kind;
    const char *error_code;    // "E1000", "0101"
    const char *memory_space;  // "hbm"
    const char *module;        // "jit_train_step"
    const char *allocator;     // "GPU_0_bfc"
    const char *requested_by;  // "MatMul": the op whose allocation failed
    int64_t needed_bytes;      // "Used", "total memory required"
    int64_t capacity_bytes;
    int64_t exceeded_bytes;
    int64_t requested_bytes;
    int64_t printed_bytes;  // of gpu_allocator: as it prints it, before it was rounded up
    int64_t free_bytes, reservable_bytes;
    int64_t tensorcore_bytes, sparsecore_bytes;
    struct oom_row rows[OOM_ROWS_MAX];
    size_t row_count;
    struct oom_entry *entries;  // as listed
    size_t entry_count;
    size_t entries_left_out;  // beyond OOM_ENTRIES_MAX
    int64_t count;            // how often the log has it
    uint32_t line;            // of the log, where it is first
    uint32_t last_line;       // what was understood of that one ends here
};

struct oom_message oom_message_empty(enum oom_kind kind);

// "compile_oom", ...
const char *oom_kind_name(enum oom_kind kind);

// The value of a row; OOM_ABSENT when there is none.
int64_t oom_message_row(const struct oom_message *message, const char *row);

// Adds a row; one of a name that is there already, or beyond OOM_ROWS_MAX, is left out.
void oom_message_add(struct oom_message *message, const char *row, int64_t value);

// Whether both can be the same message, one of them perhaps cut off: no figure or name of one contradicts the other.
bool oom_message_is_same(const struct oom_message *a, const struct oom_message *b);

// Whether `warning` can be what the allocator logged of the failure that `error` tells: of the same allocator and the
// same size as both print it ("102.06GiB"). jax's exception follows lines of the BFC allocator's, one for each time
// that it tried (xla/tsl/framework/bfc_allocator.cc).
bool oom_message_is_warning_of(const struct oom_message *warning, const struct oom_message *error);

// The error begins where its warning does and has the rows of that, unless it has them already. Its size and its
// capacity stay: the allocator's limit is not what a program has when others hold a part of it.
void oom_message_take_warning(struct oom_message *error, const struct oom_message *warning);

// Takes over what only `more` has, and its count.
void oom_message_merge(struct oom_message *message, const struct oom_message *more);
