// The stacks of a device memory profile merged: the tree that an icicle draws, and totals per function.
//
//     samples     main > train > ones      5 MiB     buffer cpu:0
//                 main > train > jit       0 B       executable
//                 main > eval > ones       1 MiB     buffer cpu:0
//
//     nodes       0 (all)             total 6 MiB    self 0          node 0 has no frame
//                 1   main                  6 MiB
//                 2     train               5 MiB
//                 3       ones              5 MiB    self 5 MiB
//                 4       jit               0
//                 5     eval                1 MiB
//                 6       ones              1 MiB    self 1 MiB
//
//     parts       the figures of each node for each group (kind and device) that it holds anything of
//     top         main 6 MiB in all; ones 6 MiB itself; ...
//
// Nodes are in preorder: a parent comes before its children, siblings come largest first. A function that calls itself
// counts once in its total. Everything is on the arena; the profile must outlive the tree.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"
#include "analysis/device_memory/device_memory_profile.h"

// Whose frames are shown: all, or only those of the user's program. What a library allocates is then its caller's; a
// stack without any frame of the user's stays whole.
enum device_memory_frames { DEVICE_MEMORY_ALL_FRAMES, DEVICE_MEMORY_OWN_FRAMES };

#define DEVICE_MEMORY_NONE UINT32_MAX

// Passing one is ERROR_TOO_BIG.
enum { DEVICE_MEMORY_MAX_NODES = 1 << 20, DEVICE_MEMORY_MAX_PARTS = 1 << 22 };

struct device_memory_figures {
    int64_t self_bytes, self_count;    // of stacks that end here
    int64_t total_bytes, total_count;  // of stacks that pass through or end here
};

struct device_memory_node {
    uint32_t parent;  // DEVICE_MEMORY_NONE for the root
    uint32_t frame;   // DEVICE_MEMORY_NONE for the root
    struct device_memory_figures figures;
};

struct device_memory_part {
    uint32_t node, group;
    struct device_memory_figures figures;
};

struct device_memory_top {
    uint32_t function;
    struct device_memory_figures figures;
};

struct device_memory_tree {
    struct device_memory_node *nodes;  // preorder
    uint32_t node_count;
    struct device_memory_part *parts;  // by node, then group
    uint32_t part_count;
    struct device_memory_top *top;  // the most bytes of its own first, then the most in all
    uint32_t top_count;
};

MUST_USE bool device_memory_tree_build(const struct device_memory_profile *profile, enum device_memory_frames frames,
                                       struct arena *arena, struct device_memory_tree *tree, struct error *error);
