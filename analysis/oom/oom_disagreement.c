// oom_disagreements: where a message and the buffers of its program do not say the same.
//
// A compiler names the whole sum "HLO temporaries" even when the arguments fill the memory; and a session may hold the
// program from before or after a change. Both mislead, so both are told.
#include "analysis/oom/oom_facts.h"
#include "analysis/oom/oom_match.h"

enum { TOLERANCE_DIVISOR = 100 };  // one part in a hundred is rounding and alignment

static bool are_near(int64_t a, int64_t b) {
    int64_t larger = a > b ? a : b, smaller = a > b ? b : a;
    return larger - smaller <= larger / TOLERANCE_DIVISOR;
}

static void add(struct oom_facts *facts, const char *text) {
    struct oom_diagnosis *diagnosis = facts->diagnosis;
    if (text && diagnosis->disagreement_count < OOM_CAUSES_MAX)
        diagnosis->disagreements[diagnosis->disagreement_count++] = text;
}

// "The total memory required for HLO temporaries (18.00G)".
static void check_words(struct oom_facts *facts) {
    const struct oom_evidence *evidence = facts->evidence;
    const int64_t *bytes = evidence->totals.bytes;
    int64_t blamed = oom_message_row(facts->message, "HLO temporaries");
    if (blamed == OOM_ABSENT || are_near(blamed, bytes[ALLOCATION_TEMPORARY])) return;
    bool is_sum = are_near(blamed, evidence->totals.total_bytes);
    add(facts, arena_printf(facts->arena,
                            "The message blames \"HLO temporaries\" for %s, but the buffers are %s of arguments, %s of "
                            "outputs and %s of temporaries%s.",
                            oom_size(facts, blamed), oom_size(facts, evidence->argument_bytes),
                            oom_size(facts, bytes[ALLOCATION_OUTPUT]), oom_size(facts, bytes[ALLOCATION_TEMPORARY]),
                            is_sum ? ": the figure is the sum of all" : ""));
}

static void check_sum(struct oom_facts *facts) {
    int64_t needed = facts->message->needed_bytes, total = facts->evidence->totals.total_bytes;
    int64_t reserved = oom_message_row(facts->message, "reserved"),
            program = oom_message_row(facts->message, "program");
    int64_t counted = needed - (reserved > 0 ? reserved : 0) - (program > 0 ? program : 0);
    if (needed == OOM_ABSENT || are_near(counted, total) || are_near(needed, total)) return;
    add(facts, arena_printf(facts->arena,
                            "The message needs %s, the buffers of this module take %s: it may be another compilation.",
                            oom_size(facts, needed), oom_size(facts, total)));
}

static void check_row(struct oom_facts *facts, const char *row, int64_t bytes, const char *what) {
    int64_t value = oom_message_row(facts->message, row);
    if (value == OOM_ABSENT || are_near(value, bytes)) return;
    add(facts, arena_printf(facts->arena, "The message counts %s of \"%s\", the module has %s of %s.",
                            oom_size(facts, value), row, oom_size(facts, bytes), what));
}

void oom_disagree_on_size(struct oom_facts *facts) {
    const struct memory_totals *totals = &facts->evidence->totals;
    enum oom_kind kind = facts->message->kind;
    bool is_load = kind == OOM_PROGRAM_LOAD, is_of_gpu = kind == OOM_GPU_ALLOCATION;
    const char *has = is_load ? "brings constants and temporaries of" : is_of_gpu ? "has temporaries of" : "takes";
    add(facts, arena_printf(facts->arena,
                            "The sizes do not match: the message %s %s, this program %s %s. It is another program "
                            "or another compilation of it, so nothing here is concluded from its buffers.",
                            is_load || is_of_gpu ? "asks for" : "needs", oom_size(facts, oom_size_told(facts->message)),
                            has, oom_size(facts, oom_size_of(facts->message, totals))));
}

void oom_disagreements(struct oom_facts *facts) {
    check_words(facts);
    check_sum(facts);
    check_row(facts, "arguments", facts->evidence->argument_bytes, "arguments");
    check_row(facts, "HLO temp", facts->evidence->totals.bytes[ALLOCATION_TEMPORARY], "temporaries");
}
