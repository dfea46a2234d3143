#include "server/routes.h"

#include <string.h>

#include "server/api/api.h"
#include "server/http/gate.h"
#include "server/http/page.h"
#include "server/xprof/xprof.h"

static const char API_PREFIX[] = "/api/";
static const char XPROF_PREFIX[] = "/data/plugin/profile";

static bool unknown_api(struct request *request, struct reply *reply, struct error *error) {
    (void)reply;
    return error_set(error, ERROR_NOT_FOUND, "There is no such endpoint: %.200s", request->path);
}

enum { GET = 0 };

static const struct route routes[] = {
    {"/api/v1/sessions", REPLY_API, api_sessions, GET},
    {"/api/v1/modules", REPLY_API, api_modules, GET},
    {"/api/v1/memory_view", REPLY_API, api_memory_view, GET},
    {"/api/v1/memory_view/overview", REPLY_API, api_memory_overview, GET},
    {"/api/v1/memory_view/groups", REPLY_API, api_memory_groups, GET},
    {"/api/v1/diff", REPLY_API, api_diff, GET},
    {"/api/v1/buffer", REPLY_API, api_buffer, GET},
    {"/api/v1/advise", REPLY_API, api_advise, GET},
    {"/api/v1/memory_profile", REPLY_API, api_profile_overview, GET},
    {"/api/v1/memory_profile/findings", REPLY_API, api_profile_findings, GET},
    {"/api/v1/memory_profile/timeline", REPLY_API, api_profile_timeline, GET},
    {"/api/v1/memory_profile/events", REPLY_API, api_profile_events, GET},
    {"/api/v1/memory_profile/modules", REPLY_API, api_profile_modules, GET},
    {"/api/v1/memory_profile/breakdown", REPLY_API, api_profile_breakdown, GET},
    {"/api/v1/memory_profile/ops", REPLY_API, api_profile_ops, GET},
    {"/api/v1/memory_profile/steps", REPLY_API, api_profile_steps, GET},
    {"/api/v1/memory_profile/held", REPLY_API, api_profile_held, GET},
    {"/api/v1/memory_profile/pressure", REPLY_API, api_profile_pressure, GET},
    {"/api/v1/device_memory", REPLY_API, api_device_memory, GET},
    {"/api/v1/device_memory/profile", REPLY_API, api_device_memory_profile, GET},
    {"/api/v1/explain", REPLY_API, api_explain, EXPLAIN_BODY_LIMIT_BYTES},
    {"/api/v1/server", REPLY_API, api_server, GET},
    {"/runs", REPLY_XPROF, xprof_runs, GET},
    {"/run_tools", REPLY_XPROF, xprof_run_tools, GET},
    {"/hosts", REPLY_XPROF, xprof_hosts, GET},
    {"/module_list", REPLY_XPROF, xprof_module_list, GET},
    {"/data", REPLY_XPROF, xprof_data, GET},
    {"/config", REPLY_XPROF, xprof_config, GET},
    {"/version", REPLY_XPROF, xprof_version, GET},
    {"/favicon.ico", REPLY_PAGE, page_icon, GET},
};

static const struct route api_fallback = {"", REPLY_API, unknown_api, GET};
static const struct route page_fallback = {"", REPLY_PAGE, page_file, GET};

static bool starts_with(const char *path, const char *prefix) {
    return strncmp(path, prefix, strlen(prefix)) == 0;
}

static const struct route *find(const char *path) {
    size_t size = strlen(path);
    while (size && path[size - 1] == '/') size--;
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        if (strlen(routes[i].path) == size && memcmp(routes[i].path, path, size) == 0) return &routes[i];
    }
    return NULL;
}

const struct route *route_of(const struct request *request) {
    const char *path = request->path;
    size_t prefix_size = sizeof XPROF_PREFIX - 1;
    if (starts_with(path, XPROF_PREFIX) && (path[prefix_size] == '/' || !path[prefix_size])) path += prefix_size;
    const struct route *route = find(path);
    if (route) return route;
    return starts_with(path, API_PREFIX) ? &api_fallback : &page_fallback;
}

// --- Answers ---

static bool is_post(const struct route *route) {
    return route->post_bytes != GET;
}

static bool takes_method(const struct route *route, const char *method) {
    if (is_post(route)) return strcmp(method, "POST") == 0;
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

static void refuse_method(struct request *request, struct reply *reply, const struct route *route) {
    struct error error;
    const char *allowed = is_post(route) ? "POST" : "GET and HEAD";
    error_set(&error, ERROR_BAD_REQUEST, "This address answers %s only, not %.40s.", allowed, request->method);
    if (route->family == REPLY_API)
        reply_json_error(request, reply, HTTP_METHOD_NOT_ALLOWED, "method_not_allowed", &error);
    else
        reply_error(request, reply, route->family, &error);
    reply->status = HTTP_METHOD_NOT_ALLOWED;
    reply->allow = is_post(route) ? "POST" : "GET, HEAD";
}

size_t routes_body_limit(const struct request *request) {
    const struct route *route = route_of(request);
    bool is_wanted = is_post(route) && takes_method(route, request->method) && gate_is_open(request);
    return is_wanted ? route->post_bytes : REQUEST_BODY_LIMIT_BYTES;
}

void routes_answer(struct request *request, struct reply *reply) {
    const struct route *route = route_of(request);
    struct error error;
    if (!gate_let_in(request, reply, route->family)) return;
    if (!takes_method(route, request->method)) {
        refuse_method(request, reply, route);
        return;
    }
    if (!route->handler(request, reply, &error)) reply_error(request, reply, route->family, &error);
    reply_finish(request, reply);
}
