#include "server/api/api.h"

#include "server/api/profile_question.h"
#include "server/document/findings_document.h"

// What the findings are made of, all of one memory.
struct found_out {
    struct timeline_summary summary;
    struct memory_breakdown breakdown;
    struct step_growth growth;
    struct memory_pressure pressure;
};

static bool find_out(const struct profile_found *found, struct arena *arena, struct found_out *out,
                     struct error *error) {
    const struct memory_profile *profile = found->profile;
    const struct memory_timeline *timeline = found->timeline;
    uint32_t peak = memory_breakdown_peak_row(profile, timeline);
    timeline_summary_make(profile, timeline, &out->summary);
    return memory_breakdown_make(profile, timeline, peak, arena, &out->breakdown, error) &&
           step_growth_make(profile, timeline, arena, &out->growth, error) &&
           memory_pressure_make(profile, timeline, arena, &out->pressure, error);
}

static bool write_findings(struct work *work, const void *asked, const struct profile_found *found,
                           struct json_writer *w, struct error *error) {
    (void)asked;
    struct found_out out;
    struct profile_findings findings;
    const struct profile_evidence evidence = {found->profile, found->timeline, &out.summary,
                                              &out.breakdown, &out.growth,     &out.pressure};
    const struct findings_told told = {&evidence, &findings};
    if (!find_out(found, &work->arena, &out, error)) return false;
    return profile_findings_make(&evidence, &work->arena, &findings, error) &&
           (findings_json_write(&told, &work->arena, w) || work_out_of_memory(error));
}

bool api_profile_findings(struct request *request, struct reply *reply, struct error *error) {
    return profile_answer(request, "findings", write_findings, NULL, reply, error);
}
