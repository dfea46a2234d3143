#include "server/routes.h"

#include <string.h>

#include "server/api/api.h"
#include "server/app.h"
#include "server/http/page.h"
#include "server/xprof/xprof_data.h"
#include "server/xprof/xprof_lists.h"

static const char API_PREFIX[] = "/api/";
static const char XPROF_PREFIX[] = "/data/plugin/profile";

static bool unknown_api(struct request *request, struct reply *reply, struct error *error) {
    (void)reply;
    return error_set(error, ERROR_NOT_FOUND, "There is no such endpoint: %.200s", request->path);
}

static const struct route routes[] = {
    {"/api/v1/sessions", ROUTE_API, api_sessions},
    {"/api/v1/modules", ROUTE_API, api_modules},
    {"/api/v1/memory_view", ROUTE_API, api_memory_view},
    {"/api/v1/memory_view/overview", ROUTE_API, api_memory_overview},
    {"/api/v1/buffer", ROUTE_API, api_buffer},
    {"/api/v1/advise", ROUTE_API, api_advise},
    {"/api/v1/memory_profile", ROUTE_API, api_profile_overview},
    {"/api/v1/memory_profile/timeline", ROUTE_API, api_profile_timeline},
    {"/api/v1/memory_profile/events", ROUTE_API, api_profile_events},
    {"/api/v1/memory_profile/modules", ROUTE_API, api_profile_modules},
    {"/api/v1/memory_profile/breakdown", ROUTE_API, api_profile_breakdown},
    {"/api/v1/memory_profile/ops", ROUTE_API, api_profile_ops},
    {"/api/v1/memory_profile/steps", ROUTE_API, api_profile_steps},
    {"/api/v1/memory_profile/held", ROUTE_API, api_profile_held},
    {"/api/v1/memory_profile/pressure", ROUTE_API, api_profile_pressure},
    {"/api/v1/device_memory", ROUTE_API, api_device_memory},
    {"/api/v1/device_memory/profile", ROUTE_API, api_device_memory_profile},
    {"/api/v1/explain", ROUTE_API, api_explain},
    {"/api/v1/server", ROUTE_API, api_server},
    {"/runs", ROUTE_XPROF, xprof_runs},
    {"/run_tools", ROUTE_XPROF, xprof_run_tools},
    {"/hosts", ROUTE_XPROF, xprof_hosts},
    {"/module_list", ROUTE_XPROF, xprof_module_list},
    {"/data", ROUTE_XPROF, xprof_data},
    {"/config", ROUTE_XPROF, xprof_config},
    {"/version", ROUTE_XPROF, xprof_version},
    {"/favicon.ico", ROUTE_PAGE, page_icon},
};

static const struct route api_fallback = {"", ROUTE_API, unknown_api};
static const struct route page_fallback = {"", ROUTE_PAGE, page_file};

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

// --- Errors ---

// XProf answers 404 to whatever its converters refuse, and 500 to files it cannot open.
static unsigned xprof_status_of(enum error_code code) {
    if (code == ERROR_BAD_REQUEST) return HTTP_BAD_REQUEST;
    return code == ERROR_UNREADABLE ? HTTP_SERVER_ERROR : HTTP_NOT_FOUND;
}

static void answer_error(struct request *request, struct reply *reply, enum route_family family,
                         const struct error *error) {
    unsigned status = family == ROUTE_XPROF ? xprof_status_of(error->code) : reply_status_of(error->code);
    if (family == ROUTE_API) {
        reply_json_error(request, reply, status, NULL, error);
        return;
    }
    const char *text = error->file[0] ? arena_printf(&request->work.arena, "%s: %s\n", error->file, error->message)
                                      : arena_printf(&request->work.arena, "%s\n", error->message);
    reply_short(reply, status, REPLY_TEXT, text ? text : "out of memory\n");
}

static bool is_post(const struct route *route) {
    return route->handler == api_explain;
}

static bool takes_method(const struct route *route, const char *method) {
    if (is_post(route)) return strcmp(method, "POST") == 0;
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

static void refuse_method(struct request *request, struct reply *reply, const struct route *route) {
    struct error error;
    const char *allowed = is_post(route) ? "POST" : "GET and HEAD";
    error_set(&error, ERROR_BAD_REQUEST, "This address answers %s only, not %.40s.", allowed, request->method);
    answer_error(request, reply, route->family, &error);
    if (route->family == ROUTE_API)
        reply_json_error(request, reply, HTTP_METHOD_NOT_ALLOWED, "method_not_allowed", &error);
    reply->status = HTTP_METHOD_NOT_ALLOWED;
    reply->allow = is_post(route) ? "POST" : "GET, HEAD";
}

// --- Access ---

static const char no_token_page[] =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>hbmview</title>"
    "<h1>This link needs its token</h1><p>Open the whole link that hbmview printed when it started; it ends in "
    "<code>?token=...</code>. Whoever started the server has it.</p></html>\n";

static void refuse_access(struct request *request, struct reply *reply, enum route_family family, bool is_wrong_host) {
    struct error error;
    if (is_wrong_host)
        error_set(
            &error, ERROR_BAD_REQUEST,
            "The host name \"%.100s\" is none of this machine's (a guard against DNS rebinding). Open the page as "
            "localhost, by the machine's host name, or by an IP address.",
            request->headers.host ? request->headers.host : "");
    else
        error_set(&error, ERROR_BAD_REQUEST,
                  "This server needs the token of its link: ?token=..., or an Authorization: Bearer header.");
    if (family == ROUTE_API)
        reply_json_error(request, reply, HTTP_FORBIDDEN, "unauthorized", &error);
    else if (family == ROUTE_PAGE && !is_wrong_host)
        reply_short(reply, HTTP_FORBIDDEN, REPLY_HTML, no_token_page);
    else
        answer_error(request, reply, ROUTE_XPROF, &error);
    reply->status = HTTP_FORBIDDEN;
}

// The address of the page without our own arguments. Never "//elsewhere", which a browser reads as another host.
static const char *plain_target(struct request *request) {
    const char *target = access_plain_target(request->target, &request->work.arena);
    while (target && target[0] == '/' && target[1] == '/') target++;
    return target && target[0] == '/' ? target : "/";
}

static void redirect(struct request *request, struct reply *reply) {
    reply_short(reply, HTTP_SEE_OTHER, REPLY_TEXT, "");
    reply->location = plain_target(request);
}

// See ACCESS_RETRY.
static void offer_retry(struct request *request, struct reply *reply) {
    const char *target = plain_target(request);
    reply->refresh = arena_printf(&request->work.arena, "0; url=%s%c" ACCESS_RETRY "=1", target,
                                  strchr(target, '?') ? '&' : '?');
}

// A first visit by the shared link: the token moves into a cookie, and out of the page's address.
static void welcome(struct request *request, struct reply *reply) {
    char cookie[ACCESS_COOKIE_BYTES];
    access_cookie(&request->app->access, cookie);
    reply->set_cookie = arena_string(&request->work.arena, bytes_of(cookie));
}

static enum access_verdict judge(const struct request *request) {
    struct access_request asked = {request->headers.host, request_query(request, "token"), request->headers.cookie,
                                   request->headers.authorization};
    return access_judge(&request->app->access, &asked);
}

size_t routes_body_limit(const struct request *request) {
    const struct route *route = route_of(request);
    bool takes_body = is_post(route) && takes_method(route, request->method);
    if (!takes_body) return REQUEST_BODY_LIMIT_BYTES;
    enum access_verdict verdict = judge(request);
    bool is_granted = verdict == ACCESS_GRANTED || verdict == ACCESS_GRANTED_BY_LINK;
    return is_granted ? EXPLAIN_BODY_LIMIT_BYTES : REQUEST_BODY_LIMIT_BYTES;
}

// False: the reply is complete already.
static bool let_in(struct request *request, struct reply *reply, enum route_family family) {
    enum access_verdict verdict = judge(request);
    bool is_page = family == ROUTE_PAGE, is_retry = request_query(request, ACCESS_RETRY) != NULL;
    switch (verdict) {
        case ACCESS_WRONG_HOST:
        case ACCESS_NO_TOKEN:
            refuse_access(request, reply, family, verdict == ACCESS_WRONG_HOST);
            if (is_page && !is_retry && verdict == ACCESS_NO_TOKEN) offer_retry(request, reply);
            return false;
        case ACCESS_GRANTED_BY_LINK:
            welcome(request, reply);
            if (is_page) redirect(request, reply);
            return !is_page;
        case ACCESS_GRANTED:
            if (is_page && is_retry) redirect(request, reply);
            return !(is_page && is_retry);
    }
    return false;
}

void routes_answer(struct request *request, struct reply *reply) {
    const struct route *route = route_of(request);
    struct error error;
    if (!let_in(request, reply, route->family)) return;
    if (!takes_method(route, request->method)) {
        refuse_method(request, reply, route);
        return;
    }
    if (!route->handler(request, reply, &error)) answer_error(request, reply, route->family, &error);
    reply_finish(request, reply);
}
