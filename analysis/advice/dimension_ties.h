// The rules of dimension_flow.h, one operation at a time. Private to this room.
#pragma once

#include "analysis/advice/dimension_marks.h"

// Carries marks between the operands and the result of one node, both ways, and between a call and what it calls.
void dimension_ties_apply(struct dimension_flow *flow, uint32_t node);

// dot, convolution, gather, scatter: rules that need the operation's own dimension numbers.
void dimension_ties_of_dot(struct dimension_flow *flow, const struct graph_node *node);
void dimension_ties_of_convolution(struct dimension_flow *flow, const struct graph_node *node);
void dimension_ties_of_gather(struct dimension_flow *flow, const struct graph_node *node);
void dimension_ties_of_scatter(struct dimension_flow *flow, const struct graph_node *node);

// Of a scatter's operand, bit d for each dimension of which a part is written at a time: addressed, but not by a window
// over all of it.
unsigned dimensions_scattered(const struct dimension_flow *flow, const struct graph_node *node);

// False: the node calls no library that is known.
bool dimension_ties_of_library_call(struct dimension_flow *flow, const struct graph_node *node);

// Does a dot or a convolution sum over a marked dimension? False for all else.
bool dimension_ties_is_contracted(const struct dimension_flow *flow, const struct graph_node *node);

// Are both its operands marked along what it sums over, so that each chip that shares that has a part of the sum?
bool dimension_ties_is_summed_in_parts(const struct dimension_flow *flow, const struct graph_node *node);
