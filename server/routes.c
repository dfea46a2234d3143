#include "server/routes.h"

#include <string.h>

#include "server/api/api_routes.h"
#include "server/http/gate.h"
#include "server/http/metrics.h"
#include "server/http/page.h"
#include "server/xprof/xprof.h"

static const char API_PREFIX[] = "/api/";
static const char XPROF_PREFIX[] = "/data/plugin/profile";

static const struct route other_rows[] = {
    {"/runs", REPLY_XPROF, xprof_runs, ROUTE_GET},        {"/run_tools", REPLY_XPROF, xprof_run_tools, ROUTE_GET},
    {"/hosts", REPLY_XPROF, xprof_hosts, ROUTE_GET},      {"/module_list", REPLY_XPROF, xprof_module_list, ROUTE_GET},
    {"/data", REPLY_XPROF, xprof_data, ROUTE_GET},        {"/config", REPLY_XPROF, xprof_config, ROUTE_GET},
    {"/version", REPLY_XPROF, xprof_version, ROUTE_GET},  {"/favicon.ico", REPLY_PAGE, page_icon, ROUTE_GET},
    {"/healthz", REPLY_WATCH, metrics_health, ROUTE_GET}, {"/metrics", REPLY_WATCH, metrics_reply, ROUTE_GET},
};

static const struct routes other_routes = {other_rows, sizeof other_rows / sizeof other_rows[0]};

static const struct route api_fallback = {"", REPLY_API, api_unknown, ROUTE_GET};
static const struct route page_fallback = {"", REPLY_PAGE, page_file, ROUTE_GET};

static bool starts_with(const char *path, const char *prefix) {
    return strncmp(path, prefix, strlen(prefix)) == 0;
}

const struct route *route_of(const struct request *request) {
    const char *path = request->path;
    size_t prefix_size = sizeof XPROF_PREFIX - 1;
    if (starts_with(path, XPROF_PREFIX) && (path[prefix_size] == '/' || !path[prefix_size])) path += prefix_size;
    const struct route *api = route_find(api_routes, path), *other = route_find(other_routes, path);
    if (api || other) return api ? api : other;
    return starts_with(path, API_PREFIX) ? &api_fallback : &page_fallback;
}

// --- Answers ---

static bool is_post(const struct route *route) {
    return route->post_bytes != ROUTE_GET;
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
    reply->family = route->family;
    bool is_for_anyone = route->handler == metrics_health;
    if (!is_for_anyone && !gate_let_in(request, reply, route->family)) return;
    if (!takes_method(route, request->method)) {
        refuse_method(request, reply, route);
        return;
    }
    if (!route->handler(request, reply, &error)) reply_error(request, reply, route->family, &error);
    reply_finish(request, reply);
}
