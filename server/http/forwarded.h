// What a proxy tells of a request that it hands on: under which address the browser knows this server.
//
//     browser -- https://hub.example/tools/hbm/?run=a --> proxy -- http://127.0.0.1:6006/?run=a --> here
//                X-Forwarded-Proto: https, X-Forwarded-Host: hub.example, X-Forwarded-Prefix: /tools/hbm
//
// Anybody can write such headers: whoever reads them has made sure that the peer is a proxy (access_believes). Of a
// chain of proxies ("a, b") the first word counts. What is no host, or no plain path, is as if it were absent.
#pragma once

#include <stdbool.h>

enum { FORWARDED_HOST_BYTES = 256, FORWARDED_PREFIX_BYTES = 256 };

struct forwarded_headers {  // as they came; NULL when absent
    const char *host, *prefix, *proto, *client;
};

struct forwarded {
    bool is_there;  // there is one of the headers at least
    bool is_https;
    char host[FORWARDED_HOST_BYTES];      // "hub.example:8443"; "" when it was not told
    char prefix[FORWARDED_PREFIX_BYTES];  // "/tools/hbm", without a slash at its end; "" for none
};

void forwarded_read(const struct forwarded_headers *headers, struct forwarded *forwarded);

// The path behind the prefix, for a proxy that leaves it in: "/tools/hbm/runs" -> "/runs"; else the path itself.
const char *forwarded_path(const struct forwarded *forwarded, const char *path);
