#include "server/document/findings_document.h"
#include "server/text/fields.h"

static const char *const kind_names[FINDING_KIND_COUNT] = {
    [FINDING_FAILED] = "failed",   [FINDING_PIECES] = "pieces",
    [FINDING_TIGHT] = "tight",     [FINDING_LEAK] = "leak",
    [FINDING_PEAK] = "peak",       [FINDING_HOLDER] = "holder",
    [FINDING_UNSEEN] = "unseen",   [FINDING_PEAK_FRAGMENTED] = "peak_fragmented",
    [FINDING_ROUNDED] = "rounded",
};

struct told_finding {
    struct profile_finding finding;
    const char *kind, *text;
    bool has_window, has_op, has_bytes, has_count, has_share;
};

#define TOLD(name, member) FIELD(name, struct told_finding, member)
#define TOLD_IF(name, member, known) FIELD_IF(name, struct told_finding, member, known)

static const struct field finding_fields[] = {
    TOLD("kind", kind),
    TOLD("text", text),
    TOLD("row", finding.row),
    TOLD("time_ps", finding.time_ps),
    TOLD("step", finding.step),
    TOLD_IF("from_ps", finding.from_ps, has_window),
    TOLD_IF("to_ps", finding.to_ps, has_window),
    TOLD_IF("op", finding.op, has_op),
    TOLD_IF("bytes", finding.bytes, has_bytes),
    TOLD_IF("count", finding.count, has_count),
    TOLD_IF("share", finding.share, has_share),
    FIELD_END,
};

static struct told_finding tell(const struct findings_told *told, const struct profile_finding *finding,
                                struct arena *arena) {
    return (struct told_finding){.finding = *finding,
                                 .kind = kind_names[finding->kind],
                                 .text = finding_text(told, finding, arena),
                                 .has_window = finding->from_ps < finding->to_ps,
                                 .has_op = finding->op.size != 0,
                                 .has_bytes = finding->bytes >= 0,
                                 .has_count = finding->count != 0,
                                 .has_share = finding->share >= 0};
}

bool findings_json_write(const struct findings_told *told, struct arena *arena, struct json_writer *w) {
    bool is_good = true;
    json_open_array_key(w, "findings");
    for (size_t i = 0; i < told->findings->count; i++) {
        struct told_finding finding = tell(told, &told->findings->items[i], arena);
        fields_write_object(w, finding_fields, &finding);
        is_good &= finding.text != NULL;
    }
    json_close_array(w);
    return is_good;
}
