// The program of a text dump, written as an HloModuleProto. Private to hlo_text_*.
//
//     HloModule jit_f, is_scheduled=true, ...
//     FileNames ... FunctionNames ... FileLocations ... StackFrames ...      the stack frame index
//     %region_0.1 (a: f32[]) -> f32[] {                                      a computation
//       %a = f32[] parameter(0)                                              its instructions, numbered from 1
//     }
//     ENTRY %main.4 (...) -> ... {
//
// Values whose instruction no text has get one of their own, which has their whole name ("sort.6{1}") and their shape.
#pragma once

#include "analysis/base/id_map.h"
#include "analysis/base/text_writer.h"
#include "analysis/hlo/hlo_text_assignment.h"

struct hlo_text_program {
    struct text_writer *w;
    struct arena *arena;
    struct id_map instructions, computations;  // names to ids
    uint32_t instruction_count, computation_count;
};

// Writes the module's fields and numbers all instructions that the texts name.
MUST_USE bool hlo_text_encode_program(const struct hlo_text *texts, const struct hlo_text_assignment *assignment,
                                      struct hlo_text_program *program, struct error *error);

// An instruction's id, or ID_MAP_NONE.
uint32_t hlo_text_instruction_id(const struct hlo_text_program *program, struct bytes name);
