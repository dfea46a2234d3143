#include "analysis/oom/oom_facts.h"

#include <inttypes.h>
#include <string.h>

struct oom_size_words oom_words_of(int64_t bytes) {
    struct oom_size_words words;
    if (bytes == OOM_ABSENT)
        memcpy(words.text, "an unknown size", sizeof "an unknown size");
    else
        size_text(bytes, words.text);
    return words;
}

void oom_add_cause(struct oom_facts *facts, const char *text) {
    struct oom_diagnosis *diagnosis = facts->diagnosis;
    if (text && diagnosis->cause_count < OOM_CAUSES_MAX) diagnosis->causes[diagnosis->cause_count++] = text;
}

struct oom_fix *oom_add_fix(struct oom_facts *facts, const char *id) {
    struct oom_diagnosis *diagnosis = facts->diagnosis;
    const struct oom_fix *fix = oom_fix_find(id);
    for (size_t i = 0; i < diagnosis->fix_count; i++) {
        if (strcmp(diagnosis->fixes[i].id, id) == 0) return &diagnosis->fixes[i];
    }
    if (!fix || diagnosis->fix_count == OOM_FIXES_MAX) return NULL;
    diagnosis->fixes[diagnosis->fix_count] = *fix;
    return &diagnosis->fixes[diagnosis->fix_count++];
}

void oom_add_fixes(struct oom_facts *facts, const char *const *ids) {
    for (; *ids; ids++) oom_add_fix(facts, *ids);
}

bool oom_is_share(int64_t part, int64_t whole, int64_t percent) {
    return part >= 0 && whole > 0 && (double)part * OOM_PERCENT >= (double)whole * (double)percent;
}

int oom_share_of(int64_t part, int64_t whole) {
    return whole > 0 ? (int)((double)part * OOM_PERCENT / (double)whole + 0.5) : 0;
}

void oom_describe_sum(struct oom_facts *facts) {
    const struct oom_evidence *evidence = facts->evidence;
    if (!evidence) return;
    if (evidence->repeated_count > 2) {
        struct oom_size_words each = oom_words_of(evidence->repeated_size_bytes),
                              sum = oom_words_of(evidence->repeated_bytes);
        oom_add_cause(facts,
                      arena_printf(facts->arena,
                                   "%" PRId64 " temporaries of %s each are alive at the peak, %s together: values that "
                                   "repeated blocks keep.",
                                   evidence->repeated_count, each.text, sum.text));
    }
    struct oom_size_words backward = oom_words_of(evidence->backward_bytes),
                          wide = oom_words_of(evidence->float32_bytes);
    if (oom_is_share(evidence->backward_bytes, evidence->peak_bytes, OOM_CLOSE_PERCENT))
        oom_add_cause(facts, arena_printf(facts->arena,
                                          "%s at the peak belong to differentiation (jvp, transpose in the "
                                          "operation's name): activations and gradients.",
                                          backward.text));
    if (oom_is_share(evidence->float32_bytes, evidence->peak_bytes, OOM_CLOSE_PERCENT))
        oom_add_cause(facts, arena_printf(facts->arena, "%s at the peak are 32-bit floats.", wide.text));
}
