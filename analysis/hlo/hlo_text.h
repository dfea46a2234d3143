// What a text dump (--xla_dump_hlo_as_text) says of a program, as an hlo_module.
//
//     -buffer-assignment.txt                                     needed: allocations, values, sizes, offsets, shapes
//         allocation 37: size 8, color 2, page 0, preallocated-temp:
//          value: <45 copy-start.1{2} @2> (size=4,offset=4): u32[]{:S(2)}
//     .txt                                                       instructions, op names, source lines
//         %tanh.3 = f32[8]{0} tanh(%x), metadata={op_name="jit(f)/tanh" stack_frame_id=3}
//     -buffer-assignment-values.txt                              instructions, where .txt is missing
//          from instruction: %tanh.3 = ...
//     -live-range.txt                                            when values live
//         4:iota   ...   copy-start.1{0}:3-9
//
//     texts ──> an HloProto that says the same ──> hlo_module_load
//
// The forms are those of BufferAllocation::ToString and BufferAssignment::ToString (xla/service/buffer_assignment.cc),
// HloModule::ToString (xla/hlo/ir/hlo_module.cc) and HloLiveRange::ToString (xla/hlo/utils/hlo_live_range.cc) in
// openxla/xla. Older ones, which end the buffer assignment with the values, are read too.
//
// A live range gives a heap simulation: time by time what begins is allocated, then what ends is freed; a value that
// comes to lie exactly on one that lives (an update in place, a loop's state) shares its bytes. Without that file there
// is none: the totals are right, the peak holds no temporaries.
// What the texts do not tell stays absent: shardings, backend settings beyond what is printed, called computations.
#pragma once

#include "analysis/hlo/hlo_module.h"
#include "analysis/hlo/hlo_text_files.h"

// Loads into `arena`; the texts are not needed afterwards. Errors name the file, the line and the byte offset.
MUST_USE bool hlo_text_load(const struct hlo_text *texts, struct arena *arena, struct hlo_module *module,
                            struct error *error);
