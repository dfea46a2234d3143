#include "server/api/api_routes.h"

#include "server/api/api.h"

static const struct route rows[] = {
    {"/api/v1/sessions", REPLY_API, api_sessions, ROUTE_GET},
    {"/api/v1/session", REPLY_API, api_session, ROUTE_GET},
    {"/api/v1/events", REPLY_API, api_events, ROUTE_GET},
    {"/api/v1/modules", REPLY_API, api_modules, ROUTE_GET},
    {"/api/v1/memory_view", REPLY_API, api_memory_view, ROUTE_GET},
    {"/api/v1/memory_view/overview", REPLY_API, api_memory_overview, ROUTE_GET},
    {"/api/v1/memory_view/groups", REPLY_API, api_memory_groups, ROUTE_GET},
    {"/api/v1/memory_view/groups/rows", REPLY_API, api_memory_group_rows, ROUTE_GET},
    {"/api/v1/diff", REPLY_API, api_diff, ROUTE_GET},
    {"/api/v1/buffer", REPLY_API, api_buffer, ROUTE_GET},
    {"/api/v1/buffer/hlo", REPLY_API, api_buffer_hlo, ROUTE_GET},
    {"/api/v1/buffers", REPLY_API, api_buffers, ROUTE_GET},
    {"/api/v1/advise", REPLY_API, api_advise, ROUTE_GET},
    {"/api/v1/memory_profile", REPLY_API, api_profile_overview, ROUTE_GET},
    {"/api/v1/memory_profile/across", REPLY_API, api_profile_across, ROUTE_GET},
    {"/api/v1/memory_profile/findings", REPLY_API, api_profile_findings, ROUTE_GET},
    {"/api/v1/memory_profile/timeline", REPLY_API, api_profile_timeline, ROUTE_GET},
    {"/api/v1/memory_profile/events", REPLY_API, api_profile_events, ROUTE_GET},
    {"/api/v1/memory_profile/modules", REPLY_API, api_profile_modules, ROUTE_GET},
    {"/api/v1/memory_profile/breakdown", REPLY_API, api_profile_breakdown, ROUTE_GET},
    {"/api/v1/memory_profile/ops", REPLY_API, api_profile_ops, ROUTE_GET},
    {"/api/v1/memory_profile/steps", REPLY_API, api_profile_steps, ROUTE_GET},
    {"/api/v1/memory_profile/held", REPLY_API, api_profile_held, ROUTE_GET},
    {"/api/v1/memory_profile/pressure", REPLY_API, api_profile_pressure, ROUTE_GET},
    {"/api/v1/trend", REPLY_API, api_trend, ROUTE_GET},
    {"/api/v1/device_memory", REPLY_API, api_device_memory, ROUTE_GET},
    {"/api/v1/device_memory/across", REPLY_API, api_device_memory_across, ROUTE_GET},
    {"/api/v1/device_memory/profile", REPLY_API, api_device_memory_profile, ROUTE_GET},
    {"/api/v1/explain", REPLY_API, api_explain, EXPLAIN_BODY_LIMIT_BYTES},
    {"/api/v1/save", REPLY_API, api_save, SAVE_BODY_LIMIT_BYTES},
    {"/api/v1/devices", REPLY_API, api_devices, ROUTE_GET},
    {"/api/v1/server", REPLY_API, api_server, ROUTE_GET},
    {"/api/v1/work", REPLY_API, api_work, ROUTE_GET},
};

const struct routes api_routes = {rows, sizeof rows / sizeof rows[0]};

void api_answer(struct request *request, struct reply *reply) {
    struct error error;
    const struct route *route = route_find(api_routes, request->path);
    bool is_good = route ? route->handler(request, reply, &error) : api_unknown(request, reply, &error);
    if (!is_good) reply_error(request, reply, REPLY_API, &error);
}

bool api_unknown(struct request *request, struct reply *reply, struct error *error) {
    (void)reply;
    return error_set(error, ERROR_NOT_FOUND, "There is no such endpoint: %.200s", request->path);
}
