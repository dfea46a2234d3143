#include "server/document/growth_document.h"

const struct field growth_op_field[] = {FIELD("op", struct growth_op, op), FIELD_END};

const struct field growth_slope_fields[] = {
    FIELD("slope_bytes", struct growth_op, slope_bytes),
    FIELD("is_leak", struct growth_op, is_leak),
    FIELD_END,
};

const struct field growth_held_fields[] = {
    FIELD("first_step", struct growth_op, first_step),
    FIELD("last_step", struct growth_op, last_step),
    FIELD("steps_growing", struct growth_op, steps_growing),
    FIELD("held_at_end_bytes", struct growth_op, held_at_end_bytes),
    FIELD("held_at_end_count", struct growth_op, held_at_end_count),
    FIELD_END,
};

struct verdict {
    bool leaks;
    struct growth_op worst;
    uint32_t leaking_ops;
    const char *text;
};

static const struct field verdict_fields[] = {
    FIELD("leaks", struct verdict, leaks),
    FIELD_IF("op", struct verdict, worst.op, leaks),
    FIELD_IF("slope_bytes", struct verdict, worst.slope_bytes, leaks),
    FIELD("leaking_ops", struct verdict, leaking_ops),
    FIELD("text", struct verdict, text),
    FIELD_END,
};

void growth_verdict_write(const struct step_growth *growth, const char *text, struct json_writer *w) {
    const struct growth_op *worst = step_growth_worst(growth);
    struct verdict verdict = {.leaks = worst != NULL, .leaking_ops = growth->leak_count, .text = text};
    if (worst) verdict.worst = *worst;
    fields_write_object_key(w, "verdict", verdict_fields, &verdict);
}
