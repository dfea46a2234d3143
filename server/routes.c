#include "server/routes.h"

#include <string.h>

#include "analysis/base/refused_memory.h"
#include "server/api/api.h"
#include "server/api/api_routes.h"
#include "server/app.h"
#include "server/http/gate.h"
#include "server/http/known_answers.h"
#include "server/http/metrics.h"
#include "server/http/page.h"
#include "server/text/printable.h"
#include "server/xprof/xprof.h"

enum { METHOD_COLUMNS = 40 };

static const char API_PREFIX[] = "/api/";
static const char XPROF_PREFIX[] = "/data/plugin/profile";

static const struct route other_rows[] = {
    {"/runs", REPLY_XPROF, xprof_runs, ROUTE_GET, NULL},
    {"/run_tools", REPLY_XPROF, xprof_run_tools, ROUTE_GET, NULL},
    {"/hosts", REPLY_XPROF, xprof_hosts, ROUTE_GET, NULL},
    {"/module_list", REPLY_XPROF, xprof_module_list, ROUTE_GET, NULL},
    {"/data", REPLY_XPROF, xprof_data, ROUTE_GET, NULL},
    {"/config", REPLY_XPROF, xprof_config, ROUTE_GET, NULL},
    {"/version", REPLY_XPROF, xprof_version, ROUTE_GET, NULL},
    {"/favicon.ico", REPLY_PAGE, page_icon, ROUTE_GET, NULL},
    {"/healthz", REPLY_WATCH, metrics_health, ROUTE_GET, NULL},
    {"/metrics", REPLY_WATCH, metrics_reply, ROUTE_GET, NULL},
};

static const struct routes other_routes = {other_rows, sizeof other_rows / sizeof other_rows[0]};

static const struct route api_fallback = {"", REPLY_API, api_unknown, ROUTE_GET, NULL};
static const struct route page_fallback = {"", REPLY_PAGE, page_file, ROUTE_GET, NULL};

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

static bool only_reads(const struct request *request) {
    return strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
}

static bool takes_method(const struct route *route, const struct request *request) {
    return is_post(route) ? strcmp(request->method, "POST") == 0 : only_reads(request);
}

static void refuse_method(struct request *request, struct reply *reply, const struct route *route) {
    struct error error;
    const char *allowed = is_post(route) ? "POST" : "GET and HEAD";
    const char *method = printable_text(bytes_of(request->method), &request->work.arena);
    error_set(&error, ERROR_BAD_REQUEST, "This address answers %s only, not %.40s.", allowed,
              printable_shorten(method, METHOD_COLUMNS, &request->work.arena));
    if (route->family == REPLY_API)
        reply_json_error(request, reply, HTTP_METHOD_NOT_ALLOWED, "method_not_allowed", &error);
    else
        reply_error(request, reply, route->family, &error);
    reply->status = HTTP_METHOD_NOT_ALLOWED;
    reply->allow = is_post(route) ? "POST" : "GET, HEAD";
}

size_t routes_body_limit(const struct request *request) {
    if (only_reads(request)) return REQUEST_BODY_LIMIT_BYTES;
    const struct route *route = route_of(request);
    bool is_wanted = is_post(route) && takes_method(route, request) && gate_is_open(request);
    return is_wanted ? route->post_bytes : REQUEST_BODY_LIMIT_BYTES;
}

static bool let_in(struct request *request, struct reply *reply, const struct route *route) {
    bool is_for_anyone = route->handler == metrics_health;
    reply->family = route->family;
    return is_for_anyone || gate_let_in(request, reply, route->family);
}

bool routes_let_in(struct request *request, struct reply *reply) {
    return let_in(request, reply, route_of(request));
}

bool routes_is_urgent(const struct request *request) {
    return route_of(request)->handler == api_explain;
}

static void answer(struct request *request, struct reply *reply, const struct route *route) {
    struct error error;
    if (!let_in(request, reply, route)) return;
    if (!takes_method(route, request)) {
        refuse_method(request, reply, route);
        return;
    }
    bool is_of_files = !is_post(route) && route->family != REPLY_PAGE && route->family != REPLY_WATCH;
    struct known_answers *known = is_of_files ? request->app->known : NULL;
    struct stillness_mark mark = {0};
    if (known) mark = stillness_mark(store_stillness(request->app->store));
    uint64_t before = memory_refusals();
    request->takes = route->words ? route->words->takes : NULL;
    bool is_good = route->handler(request, reply, &error);
    if (work_has_missed(&request->work)) return;
    reply_settle(request, reply, route->family, is_good, before, &error);
    if (known) known_answers_note(known, request, route, reply, reply->since.generation ? &reply->since : &mark);
    reply_finish(request, reply);
}

void routes_answer(struct request *request, struct reply *reply) {
    answer(request, reply, route_of(request));
}

static bool is_at_hand(struct request *request, const struct route *route) {
    return route->handler == metrics_health || (route->handler == page_file && page_is_at_hand(request));
}

static bool answer_as_before(struct request *request, struct reply *reply, const struct route *route) {
    struct reply found = {.family = route->family};
    struct known_answers *known = request->app->known;
    if (is_post(route) || !known || !known_answers_find(known, request, route, &found)) return false;
    reply->family = route->family;
    if (!gate_let_in(request, reply, route->family)) return true;
    found.set_cookie = reply->set_cookie;
    *reply = found;
    reply_finish(request, reply);
    return true;
}

bool routes_answer_at_once(struct request *request, struct reply *reply) {
    const struct route *route = route_of(request);
    if (!takes_method(route, request)) return false;
    if (!is_at_hand(request, route)) return answer_as_before(request, reply, route);
    answer(request, reply, route);
    return true;
}
