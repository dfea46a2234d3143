// oom_disagreements: where a message and the buffers of its program do not say the same.
//
// A compiler names the whole sum "HLO temporaries" even when the arguments fill the memory; and a session may hold the
// program from before or after a change. Both mislead, so both are told.
#include "analysis/oom/oom_facts.h"

#include "analysis/base/size_text.h"

enum { TOLERANCE_DIVISOR = 100 };  // one part in a hundred is rounding and alignment

static bool are_near(int64_t a, int64_t b) {
    int64_t larger = a > b ? a : b, smaller = a > b ? b : a;
    return larger - smaller <= larger / TOLERANCE_DIVISOR;
}

static void add(struct oom_diagnosis *diagnosis, const char *text) {
    if (text && diagnosis->disagreement_count < OOM_CAUSES_MAX)
        diagnosis->disagreements[diagnosis->disagreement_count++] = text;
}

// "18.00 GiB of arguments, 512 B of outputs, 512 B of temporaries"
static const char *what_buffers_are(const struct oom_evidence *evidence, struct arena *arena) {
    char argument[SIZE_TEXT_BYTES], output[SIZE_TEXT_BYTES], temporary[SIZE_TEXT_BYTES];
    const int64_t *bytes = evidence->totals.bytes;
    return arena_printf(arena, "%s of arguments, %s of outputs and %s of temporaries",
                        size_text(evidence->argument_bytes, argument), size_text(bytes[ALLOCATION_OUTPUT], output),
                        size_text(bytes[ALLOCATION_TEMPORARY], temporary));
}

// "The total memory required for HLO temporaries (18.00G)".
static void check_words(const struct oom_message *message, const struct oom_evidence *evidence, struct arena *arena,
                        struct oom_diagnosis *diagnosis) {
    char said[SIZE_TEXT_BYTES];
    int64_t blamed = oom_message_row(message, "HLO temporaries");
    int64_t temporaries = evidence->totals.bytes[ALLOCATION_TEMPORARY];
    if (blamed == OOM_ABSENT || are_near(blamed, temporaries)) return;
    const char *are = what_buffers_are(evidence, arena);
    bool is_sum = are_near(blamed, evidence->totals.total_bytes);
    if (are)
        add(diagnosis, arena_printf(arena, "The message blames \"HLO temporaries\" for %s, but the buffers are %s%s.",
                                    size_text(blamed, said), are, is_sum ? ": the figure is the sum of all" : ""));
}

static void check_sum(const struct oom_message *message, const struct oom_evidence *evidence, struct arena *arena,
                      struct oom_diagnosis *diagnosis) {
    char needed[SIZE_TEXT_BYTES], total[SIZE_TEXT_BYTES];
    int64_t reserved = oom_message_row(message, "reserved"), program = oom_message_row(message, "program");
    int64_t counted = message->needed_bytes - (reserved > 0 ? reserved : 0) - (program > 0 ? program : 0);
    if (message->needed_bytes == OOM_ABSENT || are_near(counted, evidence->totals.total_bytes) ||
        are_near(message->needed_bytes, evidence->totals.total_bytes))
        return;
    add(diagnosis,
        arena_printf(arena, "The message needs %s, the buffers of this module take %s: it may be another compilation.",
                     size_text(message->needed_bytes, needed), size_text(evidence->totals.total_bytes, total)));
}

static void check_row(const struct oom_message *message, const char *row, int64_t bytes, const char *what,
                      struct arena *arena, struct oom_diagnosis *diagnosis) {
    char said[SIZE_TEXT_BYTES], found[SIZE_TEXT_BYTES];
    int64_t value = oom_message_row(message, row);
    if (value == OOM_ABSENT || are_near(value, bytes)) return;
    add(diagnosis, arena_printf(arena, "The message counts %s of \"%s\", the module has %s of %s.",
                                size_text(value, said), row, size_text(bytes, found), what));
}

void oom_disagreements(const struct oom_message *message, const struct oom_evidence *evidence, struct arena *arena,
                       struct oom_diagnosis *diagnosis) {
    check_words(message, evidence, arena, diagnosis);
    check_sum(message, evidence, arena, diagnosis);
    check_row(message, "arguments", evidence->argument_bytes, "arguments", arena, diagnosis);
    check_row(message, "HLO temp", evidence->totals.bytes[ALLOCATION_TEMPORARY], "temporaries", arena, diagnosis);
}
