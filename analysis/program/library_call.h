// What a custom call of XLA:GPU asks of cuBLAS or cuDNN, and which dimension of its arrays is which.
//
//     (bf16[8192,2304], s8[4194304]) custom-call(bf16[8192,768] x, bf16[768,2304] w), "__cublas$lt$matmul"
//      the product      a workspace              left              right
//     backend_config = {"gemm_backend_config": {"dot_dimension_numbers": {"lhs_contracting_dimensions": ["1"], ...
//
// Targets are those of xla/service/gpu/cublas_cudnn.cc, dimension numbers those of GemmBackendConfig and
// CudnnfMHABackendConfig in xla/service/gpu/backend_configs.proto (openxla/xla 0e06ac82), which are JSON in
// HloInstructionProto.backend_config; a convolution's are the instruction's own. Before GpuBackendConfig there was no
// "gemm_backend_config" around them, which makes no difference here: keys are looked for, not nesting.
// Views only: allocates nothing, and knows no leaf. Text that is no JSON gives no numbers.
#pragma once

#include "analysis/program/program_graph.h"

enum library_call {
    LIBRARY_NONE,
    LIBRARY_PRODUCT,             // (left, right, ...) -> (result, ..., workspace)
    LIBRARY_CONVOLUTION,         // (input, kernel, ...) -> (output, workspace)
    LIBRARY_CONVOLUTION_INPUT,   // (output, kernel) -> (input, workspace)
    LIBRARY_CONVOLUTION_KERNEL,  // (input, output) -> (kernel, workspace)
    LIBRARY_ATTENTION,           // (query, key, value, ...) -> (mixed, statistics?, workspace)
    LIBRARY_ATTENTION_BACKWARD,  // (query, key, value, statistics, ...) -> (their gradients, workspace)
};

struct dot_numbers {  // as in DotDimensionNumbers
    int contracted_left[ARRAY_RANK_MAX], contracted_right[ARRAY_RANK_MAX];
    int batch_left[ARRAY_RANK_MAX], batch_right[ARRAY_RANK_MAX];
    int contracted_count, batch_count;
};

// LIBRARY_NONE for all that is no custom call of these libraries.
enum library_call library_call_of(const struct graph_node *node);

// Is it a dot or a convolution, written as such or as a library's?
bool library_call_is_product(const struct graph_node *node);

// Of a dot, or of a LIBRARY_PRODUCT. False: the message has none, or as many on the left as on the right.
bool dot_numbers_of(const struct graph_node *node, struct dot_numbers *numbers);

// Of LIBRARY_ATTENTION: query x key, then their scores x value.
bool dot_numbers_of_attention(const struct graph_node *node, struct dot_numbers *scores, struct dot_numbers *mixed);

// A repeated field of small numbers inside a message: how many, at most ARRAY_RANK_MAX.
int dimension_numbers_read(struct bytes message, uint32_t field, int numbers[ARRAY_RANK_MAX]);

// The first of them, or 0.
int dimension_number_read(struct bytes message, uint32_t field);

// Bit d for dimension d; numbers beyond ARRAY_RANK_MAX have none.
unsigned dimension_bits(const int *numbers, int count);
