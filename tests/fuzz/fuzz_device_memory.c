// Any bytes as a device memory profile: reading ends, and the tree's figures add up.
#include <stdlib.h>

#include "analysis/device_memory/device_memory_load.h"
#include "analysis/device_memory/device_memory_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARENA_BYTES = 256 << 20, MAX_CONTENT_BYTES = 4 << 20 };

static void require(bool holds) {
    if (!holds) abort();
}

static void check_error(const struct error *error) {
    require(error->code > ERROR_NONE && error->code < ERROR_CODE_COUNT);
    require(error->message[0] != '\0');
}

static void check_samples(const struct device_memory_profile *profile) {
    int64_t bytes = 0, count = 0;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct device_memory_sample *sample = &profile->samples[i];
        require(sample->bytes >= 0 && sample->count >= 0 && sample->group < profile->group_count);
        require(sample->first <= profile->stack_entry_count);
        require(sample->depth <= profile->stack_entry_count - sample->first &&
                sample->depth <= DEVICE_MEMORY_MAX_DEPTH);
        bytes += sample->bytes;
        count += sample->count;
    }
    require(bytes == profile->bytes && count == profile->count);
    for (uint32_t i = 0; i < profile->stack_entry_count; i++) require(profile->stacks[i] < profile->frame_count);
    for (uint32_t i = 0; i < profile->frame_count; i++) require(profile->frames[i].function < profile->function_count);
    for (uint32_t i = 0; i < profile->group_count; i++) {
        bytes -= profile->groups[i].bytes;
        count -= profile->groups[i].count;
    }
    require(bytes == 0 && count == 0);
}

// What a node holds in all is what it holds itself and what its children hold.
static void check_nodes(const struct device_memory_profile *profile, const struct device_memory_tree *tree,
                        int64_t *rest) {
    for (uint32_t i = 0; i < tree->node_count; i++) {
        const struct device_memory_node *node = &tree->nodes[i];
        require(i == 0 ? node->parent == DEVICE_MEMORY_NONE : node->parent < i);
        require(i == 0 || node->frame < profile->frame_count);
        rest[i] += node->figures.total_bytes - node->figures.self_bytes;
        if (i > 0) rest[node->parent] -= node->figures.total_bytes;
    }
    for (uint32_t i = 0; i < tree->node_count; i++) require(rest[i] == 0);
    require(tree->nodes[0].figures.total_bytes == profile->bytes);
}

static void check_tree(const struct device_memory_profile *profile, enum device_memory_frames frames,
                       struct arena *arena) {
    struct device_memory_tree tree;
    struct error error;
    if (!device_memory_tree_build(profile, frames, arena, &tree, &error)) {
        check_error(&error);
        return;
    }
    int64_t *rest = arena_new(arena, int64_t, tree.node_count);
    if (rest) check_nodes(profile, &tree, rest);
    int64_t of_root = 0;
    for (uint32_t i = 0; i < tree.part_count; i++) {
        require(tree.parts[i].node < tree.node_count && tree.parts[i].group < profile->group_count);
        if (tree.parts[i].node == 0) of_root += tree.parts[i].figures.total_bytes;
    }
    require(of_root == profile->bytes);
    for (uint32_t i = 0; i < tree.top_count; i++) {
        require(tree.top[i].function < profile->function_count);
        require(tree.top[i].figures.self_bytes <= tree.top[i].figures.total_bytes);
        require(tree.top[i].figures.total_bytes <= profile->bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error;
    struct arena arena;
    uint64_t reached;
    struct device_memory_profile profile;
    struct byte_source *source = byte_source_of_memory((struct bytes){data, size}, "memory.prof", &error);
    require(source != NULL);
    bool is_whole = byte_source_reach(source, MAX_CONTENT_BYTES, &reached, &error);
    arena_init(&arena, ARENA_BYTES);
    if (is_whole && reached == MAX_CONTENT_BYTES) {
        // a gzip bomb: bounded, but slow
    } else if (device_memory_profile_read(source, &arena, &profile, &error)) {
        check_samples(&profile);
        check_tree(&profile, DEVICE_MEMORY_ALL_FRAMES, &arena);
        check_tree(&profile, DEVICE_MEMORY_OWN_FRAMES, &arena);
    } else {
        check_error(&error);
        require(error.file[0] != '\0');
    }
    arena_free(&arena);
    byte_source_close(source);
    return 0;
}
