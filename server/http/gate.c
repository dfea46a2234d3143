#include "server/http/gate.h"

#include <stdio.h>
#include <string.h>

#include "server/app.h"
#include "server/http/access.h"

enum { NAME_BYTES = 128 };

static const char no_token_page[] =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>hbmview</title>"
    "<h1>This link needs its token</h1><p>Open the whole link that hbmview printed when it started; it ends in "
    "<code>?token=...</code>. Whoever started the server has it.</p></html>\n";

// The name as --allow_host wants it: without the port.
static const char *name_of(const char *host, char name[NAME_BYTES]) {
    const char *port = strrchr(host, ':');
    bool has_port = port && port[1] && !port[1 + strspn(port + 1, "0123456789")] && !strchr(host, '[');
    snprintf(name, NAME_BYTES, "%.*s", has_port ? (int)(port - host) : NAME_BYTES, host);
    return name;
}

static void refuse_access(struct request *request, struct reply *reply, enum reply_family family, bool is_wrong_host) {
    struct error error;
    char name[NAME_BYTES];
    const char *host = request->headers.host;
    if (is_wrong_host)
        error_set(
            &error, ERROR_BAD_REQUEST,
            "The host name \"%.100s\" is none of this machine's (a guard against DNS rebinding). Open the page as "
            "localhost, by the machine's host name, or by an IP address; or start hbmview with --allow_host=%.100s, "
            "or with --behind_proxy where a proxy on this machine hands requests on (docs/proxies.md).",
            host ? host : "", host ? name_of(host, name) : "NAME");
    else
        error_set(&error, ERROR_BAD_REQUEST,
                  "This server needs the token of its link: ?token=..., or an Authorization: Bearer header.");
    if (family == REPLY_API)
        reply_json_error(request, reply, HTTP_FORBIDDEN, "unauthorized", &error);
    else if (family == REPLY_PAGE && !is_wrong_host)
        reply_short(reply, HTTP_FORBIDDEN, REPLY_HTML, no_token_page);
    else
        reply_error(request, reply, REPLY_XPROF, &error);
    reply->status = HTTP_FORBIDDEN;
}

// The address of the page without our own arguments, from the folder of the one that was asked for: so a proxy's prefix
// stays, and no path is read as another host ("//elsewhere").
static const char *plain_target(struct request *request) {
    const char *target = access_plain_target(request->target, &request->work.arena);
    size_t path_size = target ? strcspn(target, "?") : 0;
    while (path_size && target[path_size - 1] != '/') path_size--;
    const char *relative = target ? arena_printf(&request->work.arena, "./%s", target + path_size) : NULL;
    return relative ? relative : "./";
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
    access_cookie(request->app->access, request->forwarded, cookie);
    reply->set_cookie = arena_string(&request->work.arena, bytes_of(cookie));
}

static enum access_verdict judge(const struct request *request) {
    struct access_request asked = {request->headers.host, request_query(request, "token"), request->headers.cookie,
                                   request->headers.authorization, request->forwarded};
    return access_judge(request->app->access, &asked);
}

bool gate_is_open(const struct request *request) {
    enum access_verdict verdict = judge(request);
    return verdict == ACCESS_GRANTED || verdict == ACCESS_GRANTED_BY_LINK;
}

bool gate_let_in(struct request *request, struct reply *reply, enum reply_family family) {
    enum access_verdict verdict = judge(request);
    bool is_page = family == REPLY_PAGE, is_retry = request_query(request, ACCESS_RETRY) != NULL;
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
