// What the rules of a diagnosis look at and write into; for oom_diagnose.c and oom_runtime_diagnosis.c.
#pragma once

#include "analysis/oom/oom_diagnosis.h"
#include "analysis/oom/oom_evidence.h"
#include "analysis/oom/oom_message.h"
#include "analysis/oom/oom_size.h"

enum { OOM_PERCENT = 100, OOM_CLOSE_PERCENT = 15 };

// Everything the rules below look at.
struct oom_facts {
    const struct oom_message *message;
    const struct oom_evidence *evidence;  // may be NULL
    int64_t capacity;
    int64_t needed;
    struct arena *arena;
    struct oom_diagnosis *diagnosis;
};

// "18.00 GiB", or "an unknown size". On the arena.
const char *oom_size(const struct oom_facts *facts, int64_t bytes);

// Adds a cause; one that finds no memory is left out.
__attribute__((format(printf, 2, 3))) void oom_say(struct oom_facts *facts, const char *format, ...);

// Adds the fix of that id when it is not there yet, and there is room.
void oom_add_fix(struct oom_facts *facts, const char *id);

// Those of several ids, with a blank between them.
void oom_add_fixes(struct oom_facts *facts, const char *ids);

// Whether `part` is at least `percent` of `whole`.
bool oom_is_share(int64_t part, int64_t whole, int64_t percent);

// In percent, rounded; 0 of nothing.
int oom_share_of(int64_t part, int64_t whole);

// Causes that the program's buffers show, when there are any.
void oom_describe_sum(struct oom_facts *facts);

// The rules for what is no compiler's message.
void oom_diagnose_program(struct oom_facts *facts);
void oom_diagnose_runtime(struct oom_facts *facts);
void oom_diagnose_gpu(struct oom_facts *facts);
void oom_diagnose_allocator(struct oom_facts *facts);

// Where the message and the buffers contradict each other; there are buffers.
void oom_disagreements(struct oom_facts *facts);

// The buffers are of a program of another size.
void oom_disagree_on_size(struct oom_facts *facts);
