#include "analysis/oom/oom_facts.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "analysis/base/size_text.h"

const char *oom_size(const struct oom_facts *facts, int64_t bytes) {
    return bytes == OOM_ABSENT ? "an unknown size" : size_string(bytes, facts->arena);
}

void oom_say(struct oom_facts *facts, const char *format, ...) {
    struct oom_diagnosis *diagnosis = facts->diagnosis;
    va_list arguments;
    va_start(arguments, format);
    const char *text = arena_vprintf(facts->arena, format, arguments);
    va_end(arguments);
    if (text && diagnosis->cause_count < OOM_CAUSES_MAX) diagnosis->causes[diagnosis->cause_count++] = text;
}

static void add_fix(struct oom_diagnosis *diagnosis, struct bytes id) {
    for (size_t i = 0; i < diagnosis->fix_count; i++) {
        if (bytes_equal(bytes_of(diagnosis->fixes[i].change.id), id)) return;
    }
    const struct change *change = change_find(id);
    if (change && diagnosis->fix_count < OOM_FIXES_MAX)
        diagnosis->fixes[diagnosis->fix_count++] = (struct oom_fix){.change = *change};
}

void oom_add_fix(struct oom_facts *facts, const char *id) {
    add_fix(facts->diagnosis, bytes_of(id));
}

void oom_add_fixes(struct oom_facts *facts, const char *ids) {
    for (size_t size; *ids; ids += size + (ids[size] == ' ')) {
        size = strcspn(ids, " ");
        add_fix(facts->diagnosis, (struct bytes){(const uint8_t *)ids, size});
    }
}

bool oom_is_share(int64_t part, int64_t whole, int64_t percent) {
    return part >= 0 && whole > 0 && (double)part * OOM_PERCENT >= (double)whole * (double)percent;
}

int oom_share_of(int64_t part, int64_t whole) {
    double percent = whole > 0 ? (double)part * OOM_PERCENT / (double)whole + 0.5 : 0;
    return percent >= INT_MAX ? INT_MAX : percent <= INT_MIN ? INT_MIN : (int)percent;
}

void oom_describe_sum(struct oom_facts *facts) {
    const struct oom_evidence *e = facts->evidence;
    if (!e) return;
    if (e->repeated_count > 2)
        oom_say(facts,
                "%" PRId64
                " temporaries of %s each are alive at the peak, %s together: values that repeated blocks keep.",
                e->repeated_count, oom_size(facts, e->repeated_size_bytes), oom_size(facts, e->repeated_bytes));
    if (oom_is_share(e->backward_bytes, e->peak_bytes, OOM_CLOSE_PERCENT))
        oom_say(facts,
                "%s at the peak belong to differentiation (jvp, transpose in the operation's name): activations and "
                "gradients.",
                oom_size(facts, e->backward_bytes));
    if (oom_is_share(e->float32_bytes, e->peak_bytes, OOM_CLOSE_PERCENT))
        oom_say(facts, "%s at the peak are 32-bit floats.", oom_size(facts, e->float32_bytes));
}
