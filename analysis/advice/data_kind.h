// What a program's data are: the inputs that follow the batch.
//
//     s32[8,1024]            tokens: integers of two dimensions and more
//     f32[32,1440,80]        frames, pictures, patches: numbers of three and more
//     f32[4096,2048]         rows: neither
//
// The rules on blocks and on sharding were seen in models of tokens first, and hold better there.
#pragma once

#include "analysis/advice/advisor.h"

struct data_kind {
    bool has_tokens, has_frames;
};

// Integers of two dimensions: the examples first, then what each is made of.
bool data_kind_is_words(const struct array_shape *shape);

struct data_kind data_kind_of(const struct advisor *advisor);
