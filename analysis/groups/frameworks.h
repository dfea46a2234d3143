// Which files of a stack are not the reader's own: those of the libraries that programs are written with.
//
//     /usr/lib/python3/site-packages/flax/linen/linear.py       flax's: after site-packages comes its name
//     /home/me/flax/flax/linen/linear.py                        flax's: a checkout, the name twice
//     /home/me/flax/train.py                                    the reader's, whatever the folder is called
//     .../site-packages/transformers/models/bert/modeling_flax_bert.py    the reader's: it is not in the list
//
// A model that comes from a library counts as the reader's, for it is what is trained; what models are built of does
// not, nor does the standard library. Pure.
#pragma once

#include "proto/bytes.h"

// "jax,jaxlib,flax,...": the list when the reader gives none.
extern const char *const FRAMEWORKS_DEFAULT;

// Is `file` of a framework? `frameworks` are names with commas between: "jax" or, of a part, "keras/src"; a list that
// starts with "+" goes on after the default.
bool frameworks_have(const char *frameworks, struct bytes file);
