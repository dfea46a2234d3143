// Encodes pprof profiles for tests: an example that the tests of device memory share.
//
//     put_types, put_sample..., put_program      a profile, field by field
//     put_example                                four samples: 1000 bytes, 8 objects, two devices
#pragma once

#include "proto/pprof_fields.h"
#include "tests/unit/wire_build.h"

enum name {
    NO_NAME,
    ALLOCATIONS,
    COUNT,
    SPACE,
    BYTES_UNIT,
    KIND,
    BUFFER,
    EXECUTABLE,
    DEVICE,
    CPU_0,
    CPU_1,
    MAIN,
    TRAIN,
    ONES,
    TRAIN_FILE,
    JAX_FILE,
    NAME_COUNT
};
static const char *const NAMES[NAME_COUNT] = {[NO_NAME] = "",
                                              [ALLOCATIONS] = "allocations",
                                              [COUNT] = "count",
                                              [SPACE] = "space",
                                              [BYTES_UNIT] = "bytes",
                                              [KIND] = "kind",
                                              [BUFFER] = "buffer",
                                              [EXECUTABLE] = "executable",
                                              [DEVICE] = "device",
                                              [CPU_0] = "cpu:0",
                                              [CPU_1] = "cpu:1",
                                              [MAIN] = "main",
                                              [TRAIN] = "train",
                                              [ONES] = "ones",
                                              [TRAIN_FILE] = "/u/train.py",
                                              [JAX_FILE] = "/v/lib/python3.11/site-packages/jax/ones.py"};

static inline void put_pair(struct wire_build *file, uint32_t number, uint64_t first, uint64_t second) {
    struct wire_build message = {0};
    wire_build_varint(&message, 1, first);
    wire_build_varint(&message, 2, second);
    wire_build_message(file, number, &message);
}

static inline void put_types(struct wire_build *file) {
    put_pair(file, PPROF_SAMPLE_TYPE, ALLOCATIONS, COUNT);
    put_pair(file, PPROF_SAMPLE_TYPE, SPACE, BYTES_UNIT);
}

// `stack` has location ids from the innermost frame outwards, 0 at its end.
static inline void put_sample(struct wire_build *file, const uint64_t *stack, uint64_t count, uint64_t bytes,
                              enum name kind, enum name device) {
    struct wire_build sample = {0}, packed = {0};
    for (; *stack; stack++) wire_build_bare_varint(&packed, *stack);
    wire_build_message(&sample, PPROF_SAMPLE_LOCATION_ID, &packed);
    wire_build_bare_varint(&packed, count);
    wire_build_bare_varint(&packed, bytes);
    wire_build_message(&sample, PPROF_SAMPLE_VALUE, &packed);
    if (kind) put_pair(&sample, PPROF_SAMPLE_LABEL, KIND, kind);
    if (device) put_pair(&sample, PPROF_SAMPLE_LABEL, DEVICE, device);
    wire_build_message(file, PPROF_SAMPLE, &sample);
}

static inline void put_location(struct wire_build *file, uint64_t id, uint64_t function, uint64_t line) {
    struct wire_build location = {0};
    wire_build_varint(&location, PPROF_LOCATION_ID, id);
    put_pair(&location, PPROF_LOCATION_LINE, function, line);
    wire_build_message(file, PPROF_LOCATION, &location);
}

static inline void put_function(struct wire_build *file, uint64_t id, enum name name, enum name path) {
    struct wire_build function = {0};
    wire_build_varint(&function, PPROF_FUNCTION_ID, id);
    wire_build_varint(&function, PPROF_FUNCTION_NAME, name);
    wire_build_varint(&function, PPROF_FUNCTION_FILENAME, path);
    wire_build_message(file, PPROF_FUNCTION, &function);
}

static inline void put_names(struct wire_build *file) {
    for (int i = 0; i < NAME_COUNT; i++) wire_build_text(file, PPROF_STRING_TABLE, NAMES[i]);
}

// Locations: 1 main:10, 2 train:20, 3 ones:30 (a library), 4 train:20 again, 5 main:10 again.
static inline void put_program(struct wire_build *file) {
    put_location(file, 1, 101, 10);
    put_location(file, 2, 102, 20);
    put_location(file, 3, 103, 30);
    put_location(file, 4, 102, 20);
    put_location(file, 5, 101, 10);
    put_function(file, 101, MAIN, TRAIN_FILE);
    put_function(file, 102, TRAIN, TRAIN_FILE);
    put_function(file, 103, ONES, JAX_FILE);
    put_names(file);
}

static const uint64_t ONES_IN_TRAIN[] = {3, 2, 1, 0}, SAME_STACK[] = {3, 4, 5, 0}, IN_TRAIN[] = {2, 1, 0},
                      RECURSIVE[] = {2, 2, 1, 0}, NO_STACK[] = {0}, ONLY_LIBRARY[] = {3, 0}, UNKNOWN[] = {99, 1, 0};

static inline void put_example(struct wire_build *file) {
    put_types(file);
    put_sample(file, ONES_IN_TRAIN, 2, 600, BUFFER, CPU_1);
    put_sample(file, SAME_STACK, 1, 300, BUFFER, CPU_0);
    put_sample(file, IN_TRAIN, 4, 0, EXECUTABLE, NO_NAME);
    put_sample(file, RECURSIVE, 1, 100, BUFFER, CPU_0);
    put_program(file);
}
