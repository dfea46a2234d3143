#include "server/api/api.h"

#include "analysis/profile/questions/memory_pressure.h"
#include "server/document/pressure_json.h"
#include "server/document/profile_columns_json.h"
#include "server/http/kept_reply.h"

static bool write_pressure(struct work *work, void *context, struct output *output, struct error *error) {
    const struct profile_request *asked = context;
    struct profile_found found;
    struct memory_pressure pressure;
    if (!profile_request_load(work, asked, &found, error) ||
        !memory_pressure_make(found.profile, found.timeline, &work->arena, &pressure, error)) {
        return false;
    }
    struct pressure_told told = {found.profile, found.timeline, &pressure};
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    profile_found_write(&asked->session, &found, &w);
    bool is_written = pressure_json_write(&told, &work->arena, &w);
    json_close_object(&w);
    return is_written || work_out_of_memory(error);
}

bool api_profile_pressure(struct request *request, struct reply *reply, struct error *error) {
    struct profile_request asked;
    if (!profile_request_read(request, &asked, error)) return false;
    const char *key = profile_request_key(request, &asked, "pressure", error);
    return key && kept_reply(request, key, REPLY_JSON, write_pressure, &asked, reply, error);
}
