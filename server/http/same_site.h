// Whether a request that does something (a POST) comes from a page of ours.
//
//     Sec-Fetch-Site: same-origin, none     ours, or no page at all: browsers alone write it, about the address that
//                                           they see, whatever proxies make of it
//     Sec-Fetch-Site: anything else         another site's
//     Origin: http://hub.example:8443       ours when it names the Host of the request, or the one that a trusted proxy
//                                           tells, or one of --allow_host
//     neither                               no browser: scripts may
//
// Browsers write Sec-Fetch-Site to https and to this machine only, Origin with every POST. Without this a page of any
// site could have this server work for it, even though it cannot read the answer.
#pragma once

#include "server/http/access.h"

struct same_site_headers {  // NULL when absent
    const char *host, *origin, *fetch_site;
};

bool same_site_is_ours(const struct access *access, const struct same_site_headers *headers,
                       const struct forwarded *forwarded);
