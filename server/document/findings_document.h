// What profile_findings.h found, as the endpoint and the report tell it: each in one sentence (findings_text), and in
// fields (findings_json).
#pragma once

#include "analysis/profile/questions/profile_findings.h"
#include "server/text/json_writer.h"

struct findings_told {
    const struct profile_evidence *evidence;
    const struct profile_findings *findings;
};

// "4 requests above 16.00 MiB failed, the first at 278 ms (step 4)". NULL when the arena is at its limit.
const char *finding_text(const struct findings_told *told, const struct profile_finding *finding, struct arena *arena);

// The key "findings" of an open object. False when the arena, which the sentences are made on, is at its limit.
MUST_USE bool findings_json_write(const struct findings_told *told, struct arena *arena, struct json_writer *w);
