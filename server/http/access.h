// Who may talk to the server.
//
//     request ──> is the Host header one of ours,
//                 or from a proxy that we trust?    no: 403. DNS rebinding gets a foreign page nowhere.
//             ──> is a token needed, and there?     no: 403. In the query (a shared link), a cookie, a header.
//
// On loopback there is no token: whoever is on the machine may read. When the server listens for others, the printed
// link carries a random token; it moves into a cookie at the first visit, so that it does not stay in the address bar.
// Replicas behind one balancer are given one token; then its cookie is named by it, not by the port.
//
// A page whose name was bound to this machine meanwhile can write any X-Forwarded-* header, but not the Host header: it
// names the page's host and our port. So a foreign host with our port is refused also behind a proxy; one with another
// port, or none, is what a proxy hands on. To a socket file no browser can connect.
//
// Plain data once set up: no locks.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/base/arena.h"
#include "server/http/forwarded.h"

enum { ACCESS_TOKEN_BYTES = 129, ACCESS_COOKIE_NAME_BYTES = 32, ACCESS_COOKIE_BYTES = 512 };

// What was asked for on the command line; everything is borrowed.
struct access_settings {
    const char *host;  // as in --host; NULL: loopback
    int port;          // 0 for a socket file
    bool bind_all, no_token, behind_proxy, is_https;
    const char *socket_path;         // NULL: it listens on a port
    const char *token;               // that was given; NULL: a random one where one is needed
    const char *const *allow_hosts;  // "hub.example", "*.hub.example"
    size_t allow_host_count;
    const char *frame_ancestors;  // of the Content-Security-Policy; NULL: 'none'
};

struct access {
    bool is_shared;      // listens for other machines
    bool is_everywhere;  // on all addresses
    bool is_socket;      // listens on a socket file
    bool behind_proxy, is_framed;
    bool is_https;  // encrypts by itself
    int port;
    char token[ACCESS_TOKEN_BYTES];              // "" when none is needed
    char cookie_name[ACCESS_COOKIE_NAME_BYTES];  // has the port: two servers on one machine do not log each other out
    const char *content_policy;                  // the value of the Content-Security-Policy header
    const char *
        *hosts;  // names and addresses by which this machine may be called, without brackets; "*.x": all below x
    size_t host_count, allowed_count;  // the last so many are those of --allow_host
    const char **urls;                 // where to open the page, the best first
    size_t url_count;
};

// Names are copied into `arena`. False: no randomness, or no memory.
bool access_init(struct access *access, struct arena *arena, const struct access_settings *settings);

// Whether a token, or the value of --frame_ancestors, may be used as it is: it becomes part of a header.
bool access_token_is_plain(const char *token);
bool access_frame_sources_are_plain(const char *sources);

// Whether what a proxy tells of a request counts; `is_near`: it came from this machine.
bool access_believes(const struct access *access, bool is_near);

enum access_verdict { ACCESS_GRANTED, ACCESS_GRANTED_BY_LINK, ACCESS_WRONG_HOST, ACCESS_NO_TOKEN, ACCESS_WRONG_TOKEN };

struct access_request {  // NULL when absent
    const char *host, *query_token, *cookie, *authorization;
    const struct forwarded *forwarded;  // that counts
};

enum access_verdict access_judge(const struct access *access, const struct access_request *request);

// Whether --allow_host names "hub.example:8443", or what it is a part of.
bool access_is_allowed(const struct access *access, const char *host);

// Whether a browser counts what it has from this address as safe from others on the way: https, or this machine.
bool access_is_secure(const struct access *access, const char *host, const struct forwarded *forwarded);

// The value of a Set-Cookie header that carries the token, to where the browser sees this server. By https only for
// https, and inside the frames of other sites where they are allowed.
void access_cookie(const struct access *access, const struct forwarded *forwarded, char cookie[ACCESS_COOKIE_BYTES]);

// The address under which whoever asked sees this server, with the token: for a proxy's request; NULL without memory.
const char *access_outer_url(const struct access *access, const struct access_request *request, struct arena *arena);

// `target` (path?query, as it came) without our own arguments (the token, ACCESS_RETRY), on `arena`. NULL without
// memory.
char *access_plain_target(const char *target, struct arena *arena);

// Takes the token out of a text that says what was asked, wherever it stands: as it is, percent-encoded, or cut off
// after ACCESS_TOKEN_TOLD_BYTES of it or more. ACCESS_HIDDEN stands there then. For the log, and whoever has the token:
// others would see by it whether a guess is right. NULL for `access`: there is no token.
void access_hide_token(const struct access *access, char *text);

enum { ACCESS_TOKEN_TOLD_BYTES = 16 };  // no token is shorter
#define ACCESS_HIDDEN "..."

// A browser holds back a SameSite=Strict cookie when the link was clicked on another site (a chat, a mail), even after
// our redirect. So the refusal lets the page ask once more from here, with this argument, and then the cookie comes.
#define ACCESS_RETRY "hbmview_retry"
