#include "server/api/api.h"

#include "server/api/profile_question.h"
#include "server/document/pressure_document.h"

static bool write_pressure(struct work *work, const void *asked, const struct profile_found *found,
                           struct json_writer *w, struct error *error) {
    (void)asked;
    struct memory_pressure pressure;
    struct pressure_told told = {found->profile, found->timeline, &pressure};
    return memory_pressure_make(found->profile, found->timeline, &work->arena, &pressure, error) &&
           (pressure_json_write(&told, &work->arena, w) || work_out_of_memory(error));
}

bool api_profile_pressure(struct request *request, struct reply *reply, struct error *error) {
    return profile_answer(request, "pressure", write_pressure, NULL, reply, error);
}
