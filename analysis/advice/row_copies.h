// Copies of narrow tables by rows, which a TPU takes rows of and adds gradients to.
//
//     table f32[4000000,16]{0,1}   244 MiB    as it lies: sixteen sublanes
//     its copy by rows     {1,0}   1.9 GiB    sixteen of 128 lanes: too much, the compiler does without
//     a chip's quarter     {1,0}   488 MiB    is made, of the table, of its optimizer's state, and of its gradient
//
// So a change that makes a table smaller can make copies of it begin. Seen in modules of libtpu 0.0.52: of tables of 16
// columns those whose copy took 610 MiB had one, those of 976 MiB had none; of 64 columns some had none either. So this
// is a bound on what may come, and no prediction. On one chip copies are there for one table at a time; where chips
// share tables, those of all of them may wait for each other.
#pragma once

#include "analysis/advice/advisor.h"

// Bytes that begin to be there once `ways` chips share each table's rows (1: none do), of elements of so many bits.
int64_t row_copies_begun(const struct advisor *advisor, int64_t ways, int bits);
