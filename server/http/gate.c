#include "server/http/gate.h"

#include <stdio.h>
#include <string.h>

#include "analysis/base/steady_clock.h"
#include "server/app.h"
#include "server/http/access.h"
#include "server/http/guesses.h"
#include "server/http/same_site.h"

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

static bool is_of_other_site(const struct request *request) {
    const struct same_site_headers headers = {request->headers.host, request->headers.origin,
                                              request->headers.fetch_site};
    bool only_reads = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
    return !only_reads && !same_site_is_ours(request->app->access, &headers, request->forwarded);
}

static void refuse_other_site(struct request *request, struct reply *reply, enum reply_family family) {
    struct error error;
    const char *origin = request->headers.origin;
    error_set(&error, ERROR_BAD_REQUEST,
              "A page of another site (%.100s) may not send this: open hbmview's own page, or ask by a script. Where a "
              "proxy changes the Host header, start hbmview with --allow_host=NAME, the name that readers see, or with "
              "--behind_proxy (docs/proxies.md).",
              origin ? origin : "Sec-Fetch-Site");
    if (family == REPLY_API)
        reply_json_error(request, reply, HTTP_FORBIDDEN, "other_site", &error);
    else
        reply_error(request, reply, REPLY_XPROF, &error);
    reply->status = HTTP_FORBIDDEN;
}

bool gate_is_open(const struct request *request) {
    if (is_of_other_site(request)) return false;
    enum access_verdict verdict = judge(request);
    return verdict == ACCESS_GRANTED || verdict == ACCESS_GRANTED_BY_LINK;
}

static void refuse_guess(struct request *request, struct reply *reply, enum reply_family family, int64_t wait_s) {
    struct error error;
    error_set(
        &error, ERROR_BAD_REQUEST,
        "Too many wrong tokens came from this address; send no other one for %lld s. The right one gets in at any "
        "time: open the link that hbmview printed when it started last.",
        (long long)wait_s);
    if (family == REPLY_API)
        reply_json_error(request, reply, HTTP_TOO_MANY, "too_many_guesses", &error);
    else
        reply_error(request, reply, REPLY_XPROF, &error);
    reply->status = HTTP_TOO_MANY;
    reply->retry_after = arena_printf(&request->work.arena, "%lld", (long long)wait_s);
    reply->is_last = true;
}

// What it said was not the token, or it said none, or it called the server by a foreign name.
static void refuse(struct request *request, struct reply *reply, enum reply_family family,
                   enum access_verdict verdict) {
    bool is_guess = verdict == ACCESS_WRONG_TOKEN;
    int64_t wait_s = is_guess ? guesses_take(request->app->guesses, &request->client, steady_ms()) : 0;
    if (wait_s)
        refuse_guess(request, reply, family, wait_s);
    else
        refuse_access(request, reply, family, verdict == ACCESS_WRONG_HOST);
    bool is_retry = request_query(request, ACCESS_RETRY) != NULL;
    if (family == REPLY_PAGE && !is_retry && verdict != ACCESS_WRONG_HOST) offer_retry(request, reply);
}

bool gate_let_in(struct request *request, struct reply *reply, enum reply_family family) {
    enum access_verdict verdict = judge(request);
    bool is_page = family == REPLY_PAGE, is_retry = request_query(request, ACCESS_RETRY) != NULL;
    bool is_known = verdict == ACCESS_GRANTED || verdict == ACCESS_GRANTED_BY_LINK;
    request->has_token = is_known;
    if (is_known && is_of_other_site(request)) {
        refuse_other_site(request, reply, family);
        return false;
    }
    switch (verdict) {
        case ACCESS_WRONG_HOST:
        case ACCESS_NO_TOKEN:
        case ACCESS_WRONG_TOKEN:
            refuse(request, reply, family, verdict);
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
