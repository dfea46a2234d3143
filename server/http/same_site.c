#include "server/http/same_site.h"

#include <string.h>
#include <strings.h>

// "https://hub.example:8443" -> "hub.example:8443"; NULL: it has no host ("null"), or is no site's (an extension's).
static const char *host_of(const char *origin) {
    const char *separator = strstr(origin, "://");
    bool is_site = strncasecmp(origin, "http://", 7) == 0 || strncasecmp(origin, "https://", 8) == 0;
    return is_site && separator[3] ? separator + 3 : NULL;
}

static bool ends_with(const char *text, size_t size, const char *end) {
    size_t end_size = strlen(end);
    return size >= end_size && strncasecmp(text + size - end_size, end, end_size) == 0;
}

// The port that a scheme has by itself may be left out: a proxy writes it, a browser does not.
static bool is_same_host(const char *origin_host, const char *host) {
    size_t size = strlen(host);
    if (strcasecmp(origin_host, host) == 0) return true;
    if (ends_with(host, size, ":443")) size -= strlen(":443");
    if (ends_with(host, size, ":80")) size -= strlen(":80");
    return strlen(origin_host) == size && strncasecmp(origin_host, host, size) == 0;
}

bool same_site_is_ours(const struct access *access, const struct same_site_headers *headers,
                       const struct forwarded *forwarded) {
    const char *site = headers->fetch_site;
    if (site) return strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0;
    if (!headers->origin) return true;
    const char *origin = host_of(headers->origin);
    if (!origin) return false;
    if (headers->host && is_same_host(origin, headers->host)) return true;
    if (forwarded && forwarded->host[0] && is_same_host(origin, forwarded->host)) return true;
    return access_is_allowed(access, origin);
}
