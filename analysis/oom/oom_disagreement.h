// Where a message and the buffers of its program do not say the same.
//
// A compiler names the whole sum "HLO temporaries" even when the arguments fill the memory; and a session may hold the
// program from before or after a change. Both mislead, so both are told.
#pragma once

#include "analysis/oom/oom_diagnosis.h"

void oom_disagreements(const struct oom_message *message, const struct oom_evidence *evidence, struct arena *arena,
                       struct oom_diagnosis *diagnosis);
