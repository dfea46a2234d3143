// One side of a comparison: the buffers that hold bytes at the peak of a view, with the words they are known by.
//
//     row   size      use        op_name                     shape            source        argument
//     12    192 MiB   temporary  jit(step)/attn/dot_general  bf16[8,2048,..]  train.py:53
//     0     73 MiB    argument   params['emb']               f32[32768,..]    params['emb'] params['emb']
//     none  5 B       temporary                                                             what no buffer explains
//
// Words are numbers of one table that both sides share, so two buffers are compared by numbers; 0 is no word. The sizes
// sum to the bytes of the peak. Borrows view and sources; lives on the caller's arena.
#pragma once

#include "analysis/groups/buffer_sources.h"
#include "analysis/groups/live_rows.h"

struct compared_side {
    const struct memory_view *view;  // exact
    const struct buffer_sources *sources;
};

// What a buffer is for. A donated argument is an argument.
enum buffer_use { BUFFER_USE_TEMPORARY, BUFFER_USE_ARGUMENT, BUFFER_USE_OUTPUT, BUFFER_USE_CONSTANT };

struct compared_buffer {
    uint32_t row;  // of the view; HLO_NONE for what no buffer explains
    int64_t size_bytes;
    enum allocation_category category;
    enum buffer_use use;
    // Numbers of words.
    uint32_t name;     // "fusion.1{0}"
    uint32_t element;  // "{0}", of a tuple
    uint32_t opcode;
    uint32_t op_name;
    uint32_t primitive;  // the last part of its op_name
    uint32_t shape;      // with its layout
    uint32_t form;       // type and number of dimensions: "bf16[,,]"
    uint32_t source;     // the reader's line, or the path of the argument that it comes from
    uint32_t argument;   // the path of the argument that it is
};

struct compared_buffers {
    struct compared_buffer *list;  // arguments, outputs and constants, then the others in program order
    uint32_t count;
};

// False at the arena's limit.
MUST_USE bool compared_buffers_read(const struct compared_side *side, struct string_table *words, struct arena *arena,
                                    struct compared_buffers *buffers);
