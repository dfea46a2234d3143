// Which block of a model an operation is of, by the names that libraries give their modules.
//
//     jvp(Model)/encoder/layers/0/self_attn/dot_general     encoder/layers/0
//     jvp(Model)/decoder/layers/11/fc1/dot_general          decoder/layers/11
//     jvp(UNet)/down_0_attn_1/attn1/bqhd,bkhd->bhqk/...     down_0_attn_1
#pragma once

#include "analysis/program/op_name.h"

// Up to the end of the first part that has a digit, behind the transformations, or in them as haiku's modules of no
// other are, jvp(layer_0)/fc1. A part of `op_name`; empty: no part has a number.
struct bytes module_scope_of(struct bytes op_name);
