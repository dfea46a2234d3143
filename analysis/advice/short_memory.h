// What libtpu does where memory is short: first temporaries lie in outputs (residents.h), then some are rematerialized
// (unsqueezed.h).
//
//     0                                         limit      the chip's memory
//     |------ each array has its own room ------|-- outputs --|
//
// Not in the open; seen in 92 programs of 10 to 19 GiB compiled for a v5e of 15.75 GiB by libtpu 0.0.52: with 13468 MiB
// in arrays of their own none lay in an output, with 13708 and more some did, whatever the program. Which chip a
// program is for it does not say, but one that was short had more than the limit of its chip, and so much is too
// little for the next larger one's.
//
// Six that were rematerialized to fit had 14126 to 17149 MiB then; much more is a program that did not.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// The limit of the largest TPU that takes `roomy_bytes` for too much, and that `squeezed_bytes` fill where the program
// was rematerialized (0: it was not); 0: no known TPU does.
int64_t short_memory_bytes(int64_t roomy_bytes, int64_t squeezed_bytes);

// Is there a TPU that a program of so many bytes, after rematerialization, just fits, or just does not?
bool short_memory_is_filled(int64_t squeezed_bytes);
