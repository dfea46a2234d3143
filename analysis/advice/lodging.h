// Which temporaries lie in the outputs' allocations of an XLA:GPU or XLA:CPU program if buffers had other sizes.
//
//     outputs, the largest first        temporaries, the largest first
//     A 96 MiB  ........|==owner==|     t 96 MiB  |---|          -> A
//     B 32 MiB  ..|=====owner=====|     u 32 MiB       |--|      -> A: B is taken, A is free again
//                                       v 16 MiB  |-|            -> B: the smallest that is free so long
//                                       w 32 MiB    |---------|  -> the heap
//
// Follows BufferAssigner of xla/service/buffer_assignment.cc (openxla/xla 0e06ac82): buffers get their allocations by
// falling size, outputs before temporaries of the same size; a temporary takes the last allocation made so far that is
// large enough and free while it lives, and only what finds none goes to the heap simulator. So a change that makes
// temporaries smaller lets more of them lie in outputs, and one that makes the outputs smaller drives them out. What an
// output takes over without a gap (a gradient that is updated in place, an accumulator) stays with it.
// Not modelled: allocations of donated inputs, which are full until the output takes them, and that an operation tries
// its operands' allocations first, which moves buffers between outputs but seldom off them.
#pragma once

#include "analysis/advice/residents.h"

// The size of an output's allocation when its owner's is sizes[owner]; bytes.
int64_t lodging_host_bytes(const struct residents *residents, const struct host *host, const int64_t *sizes);

// Sets the size of each buffer of `changed` that finds room in an output to 0. `changed` is residents->module with the
// sizes `sizes`; `replay` its replay of residents->events. `visits` is how much work it was. False: no memory.
MUST_USE bool lodging_assign(const struct residents *residents, const struct heap_replay *replay, const int64_t *sizes,
                             struct hlo_module *changed, int64_t *visits, struct arena *scratch);
