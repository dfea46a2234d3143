// Is this program the one that a message is about?
//
//     "jit_train_step ... (52.93G)"                          total 52.93 GiB: its size     total 10.85 GiB: another's
//     "shape = 'u8[327680,327680]...', tag = 'output of      an instruction xor_convert_fusion makes such an array
//      xor_convert_fusion@{}'", no name of a program          of as many bytes: it is that program
//
// A message rounds its figures and counts what no HLO holds (the code, what is reserved), so sizes within a tenth are
// one; tiles are left out of shapes, because the compiler settles them after it has told of them. A program that found
// no room (0101) tells what loading it reserves, which is what oom_loaded.h counts; arguments and outputs are no part.
// A GPU's that is named asks for its temporaries, which are one allocation.
#pragma once

#include "analysis/hlo/hlo_module.h"
#include "analysis/memory/memory_totals.h"
#include "analysis/oom/oom_message.h"

// What the message says of the program's size; OOM_ABSENT when it does not.
int64_t oom_size_told(const struct oom_message *message);

// What of a program that is to be compared with: all of HBM, what loading it reserves, or its temporaries. `totals` are
// those of memory space 0.
int64_t oom_size_of(const struct oom_message *message, const struct memory_totals *totals);

// How far such a program is from what the message says; OOM_ABSENT when it does not say.
int64_t oom_size_distance(const struct oom_message *message, const struct memory_totals *totals);

// Whether the sizes can be those of one program; a message that does not say its size contradicts none.
bool oom_is_size_near(const struct oom_message *message, const struct memory_totals *totals);

// The instruction that the largest allocation listed names: "fusion.31" of "fusion.31 = fusion(...)". On `arena`; empty
// when there is none, or its shape is not told.
struct bytes oom_blamed_instruction(const struct oom_message *message, struct arena *arena);

// Whether the program has that instruction, with a buffer of the shape and the bytes that the message tells.
bool oom_has_instruction(const struct oom_message *message, struct bytes instruction, const struct hlo_module *module,
                         struct arena *arena);
