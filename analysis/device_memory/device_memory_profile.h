// A device memory profile: who holds memory on the devices at one moment, by Python stack. What
// jax.profiler.save_device_memory_profile("memory.prof") writes: pprof's Profile, gzipped (or plain).
//
//     sample   stack (outermost frame first)                count  bytes     group: kind       device
//       0      <module> > train > make_batch > ones           20   5242880          buffer     cpu:0
//       1      <module> > train > jit > compile                6         0          executable
//
//     stacks   [ 0 1 2 3 | 0 1 4 5 | ... ]     one run for each sample: indexes into frames
//     frames   function, line                  a place in the program, each once
//     functions name, file                     each once
//     groups   kind, device                    each once, by name; "" where the profile does not say
//
// A *buffer* is a live array (its bytes as they lie on the device), an *executable* a compiled program that is loaded
// (its code's bytes; 0 where the runtime does not tell).
//
// Made by device_memory_load.h, on whose arena everything is; strings are views into the loaded file. Ids that name
// nothing, here a location or a function, stand for the frame without a name. A file that is cut, damaged, too large or
// measures something else (a profile of CPU time is a pprof too) is an error: the names come last in it, so nothing of
// a cut one can be told. Sizes and counts below zero and sums past 63 bits are errors, so totals are never less than
// their parts.
#pragma once

#include "proto/bytes.h"

// Limits against hostile files; passing one is ERROR_TOO_BIG. Real files are below a megabyte.
enum {
    DEVICE_MEMORY_MAX_BYTES = 256 << 20,
    DEVICE_MEMORY_MAX_SAMPLES = 1 << 20,
    DEVICE_MEMORY_MAX_LINES = 1 << 22,  // of all locations
    DEVICE_MEMORY_MAX_STACK_ENTRIES = 1 << 24,
    DEVICE_MEMORY_MAX_DEPTH = 1 << 13,  // Python's own limit is about 1000
    DEVICE_MEMORY_MAX_GROUPS = 1 << 12,
};

struct device_memory_function {
    struct bytes name;  // "train_step"
    struct bytes file;
    bool is_library;  // a file of an installed package or of Python itself, not of the user's program
};

struct device_memory_frame {
    uint32_t function;
    int64_t line;
};

struct device_memory_group {
    struct bytes kind;    // "buffer", "executable"
    struct bytes device;  // "TPU_0(process=0,(0,0,0,0))"
    int64_t bytes, count;
};

struct device_memory_sample {
    uint32_t first;  // in stacks
    uint32_t depth;
    uint32_t group;
    int64_t bytes, count;
};

struct device_memory_profile {
    struct device_memory_function *functions;
    uint32_t function_count;
    struct device_memory_frame *frames;
    uint32_t frame_count;
    uint32_t *stacks;
    uint32_t stack_entry_count;
    struct device_memory_sample *samples;  // in file order
    uint32_t sample_count;
    struct device_memory_group *groups;  // by kind, then device
    uint32_t group_count;
    int64_t bytes, count;  // of all samples
};
