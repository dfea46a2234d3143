// Who may talk to the server.
//
//     request ──> is the Host header one of ours?   no: 403. DNS rebinding gets a foreign page nowhere.
//             ──> is a token needed, and there?     no: 403. In the query (a shared link), a cookie, a header.
//
// On loopback there is no token: whoever is on the machine may read. When the server listens for others, the printed
// link carries a random token; it moves into a cookie at the first visit, so that it does not stay in the address bar.
// Plain data once set up: no locks.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/base/arena.h"

enum { ACCESS_TOKEN_BYTES = 33, ACCESS_COOKIE_NAME_BYTES = 32, ACCESS_COOKIE_BYTES = 160 };

struct access {
    bool is_shared;      // listens for other machines
    bool is_everywhere;  // on all addresses
    int port;
    char token[ACCESS_TOKEN_BYTES];              // "" when none is needed
    char cookie_name[ACCESS_COOKIE_NAME_BYTES];  // has the port: two servers on one machine do not log each other out
    const char **hosts;  // names and addresses by which this machine may be called, lower case, without brackets
    size_t host_count;
    const char **urls;  // where to open the page, the best first
    size_t url_count;
};

// `host` as in --host (NULL: loopback). Names are copied into `arena`. False: no randomness, or no memory.
bool access_init(struct access *access, struct arena *arena, const char *host, bool bind_all, bool no_token, int port);

enum access_verdict { ACCESS_GRANTED, ACCESS_GRANTED_BY_LINK, ACCESS_WRONG_HOST, ACCESS_NO_TOKEN };

struct access_request {  // NULL when absent
    const char *host, *query_token, *cookie, *authorization;
};

enum access_verdict access_judge(const struct access *access, const struct access_request *request);

// The value of a Set-Cookie header that carries the token.
void access_cookie(const struct access *access, char cookie[ACCESS_COOKIE_BYTES]);

// `target` (path?query, as it came) without our own arguments (the token, ACCESS_RETRY), on `arena`. NULL without
// memory.
const char *access_plain_target(const char *target, struct arena *arena);

// A browser holds back a SameSite=Strict cookie when the link was clicked on another site (a chat, a mail), even after
// our redirect. So the refusal lets the page ask once more from here, with this argument, and then the cookie comes.
#define ACCESS_RETRY "hbmview_retry"
