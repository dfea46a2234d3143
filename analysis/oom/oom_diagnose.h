// The rules that lead to a diagnosis: from what the message says and, where there is one, from the program's buffers.
//
//     kind, figures, largest list  --.
//                                     +-> scenario ──> reason, in numbers ──> fixes, the likeliest first
//     evidence (may be missing)    --'
#pragma once

#include "analysis/oom/oom_diagnosis.h"
#include "analysis/oom/oom_evidence.h"
#include "analysis/oom/oom_message.h"

// `evidence` may be NULL; of a program whose size is not the message's only that is said.
// `capacity_bytes` replaces the message's own (OOM_ABSENT: it does not). Texts are on `arena`; what finds no room there
// is left out.
void oom_diagnose(const struct oom_message *message, const struct oom_evidence *evidence, int64_t capacity_bytes,
                  struct arena *arena, struct oom_diagnosis *diagnosis);
