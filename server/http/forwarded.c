#include "server/http/forwarded.h"

#include <string.h>
#include <strings.h>

static const char HOST_LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]";
static const char PATH_LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_~%/@+";

// The first word of a list, where it is made of `letters`; else "".
static void read_first(const char *header, const char *letters, char *to, size_t room) {
    size_t size = header ? strcspn(header, ", \t") : 0;
    if (size >= room || strspn(header ? header : "", letters) < size) size = 0;
    memcpy(to, header ? header : "", size);
    to[size] = '\0';
}

// A browser reads "//host" as another machine, and "/.." as another folder.
static bool is_plain(const char *prefix) {
    return prefix[0] == '/' && !strstr(prefix, "//") && !strstr(prefix, "/.");
}

static void read_prefix(const char *header, char prefix[FORWARDED_PREFIX_BYTES]) {
    read_first(header, PATH_LETTERS, prefix, FORWARDED_PREFIX_BYTES);
    size_t size = strlen(prefix);
    if (!is_plain(prefix)) size = 0;
    if (size && prefix[size - 1] == '/') size--;
    prefix[size] = '\0';
}

void forwarded_read(const struct forwarded_headers *headers, struct forwarded *forwarded) {
    *forwarded = (struct forwarded){.is_there = headers->host || headers->prefix || headers->proto || headers->client};
    const char *proto = headers->proto;
    forwarded->is_https = proto && strncasecmp(proto, "https", 5) == 0 && strcspn(proto, ", \t") == 5;
    read_first(headers->host, HOST_LETTERS, forwarded->host, sizeof forwarded->host);
    read_prefix(headers->prefix, forwarded->prefix);
}

const char *forwarded_path(const struct forwarded *forwarded, const char *path) {
    size_t size = strlen(forwarded->prefix);
    bool is_below = size && strncmp(path, forwarded->prefix, size) == 0 && path[size] == '/';
    return is_below ? path + size : path;
}
