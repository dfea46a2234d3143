#define _DEFAULT_SOURCE  // inet_aton
#include "server/http/access.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "server/http/machine_names.h"
#include "server/text/etag.h"

enum { HOST_BYTES = 256, TOKEN_RANDOM_BYTES = 16, HTTP_PORT = 80, HTTPS_PORT = 443 };

// --- Set up ---

static bool is_address(const char *text) {
    unsigned char address[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

// "127.1" too, but no name that begins so: it may lead anywhere.
static bool is_loopback_v4(const char *host) {
    struct in_addr address;
    bool has_only_numbers = !host[strspn(host, "0123456789.")];  // inet_aton minds no words after a blank
    return strncmp(host, "127.", 4) == 0 && has_only_numbers && inet_aton(host, &address);
}

static bool is_loopback(const char *host) {
    return !host || strcasecmp(host, "localhost") == 0 || is_loopback_v4(host) || strcmp(host, "::1") == 0;
}

static bool is_wildcard(const char *host) {
    return host && (strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0);
}

static bool make_token(char token[ACCESS_TOKEN_BYTES]) {  // hex digits
    unsigned char random[TOKEN_RANDOM_BYTES];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) return false;
    for (size_t i = 0; i < sizeof random; i++) snprintf(token + 2 * i, 3, "%02x", random[i]);
    return true;
}

bool access_token_is_plain(const char *token) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    size_t size = strlen(token);
    return size >= ACCESS_TOKEN_TOLD_BYTES && size < ACCESS_TOKEN_BYTES && strspn(token, letters) == size;
}

bool access_frame_sources_are_plain(const char *sources) {
    for (const char *at = sources; *at; at++) {
        if (*at < ' ' || *at > '~' || *at == ';' || *at == ',') return false;
    }
    return true;
}

bool access_believes(const struct access *access, bool is_near) {
    return access->behind_proxy && (is_near || access->is_socket);
}

static bool set_token(struct access *access, const struct access_settings *settings) {
    char tag[ETAG_BYTES];
    const char *token = settings->no_token ? NULL : settings->token;
    snprintf(access->cookie_name, sizeof access->cookie_name, "hbmview_%d", access->port);
    if (token) {
        etag_of(bytes_of(token), tag);
        snprintf(access->token, sizeof access->token, "%s", token);
        snprintf(access->cookie_name, sizeof access->cookie_name, "hbmview_%.8s", tag + 1);
    }
    return token || settings->no_token || !access->is_shared || make_token(access->token);
}

static const char *content_policy(const char *frame_ancestors, struct arena *arena) {
    return arena_printf(arena,
                        "default-src 'self'; style-src 'self'; img-src 'self' data:; object-src 'none'; "
                        "base-uri 'none'; form-action 'none'; frame-ancestors %s",
                        frame_ancestors);
}

static const char *url_of(const struct access *access, const char *host, struct arena *arena) {
    bool is_v6 = strchr(host, ':') != NULL;
    return arena_printf(arena, "%s://%s%s%s:%d/%s%s", access->is_https ? "https" : "http", is_v6 ? "[" : "", host,
                        is_v6 ? "]" : "", access->port, access->token[0] ? "?token=" : "", access->token);
}

static void add(const char **list, size_t *count, const char *text) {
    if (text) list[(*count)++] = text;
}

static void add_urls(struct access *access, const char *host, const struct machine_names *names, struct arena *arena) {
    size_t *count = &access->url_count;
    if (access->is_socket) return;
    if (!access->is_shared) {
        add(access->urls, count, url_of(access, host && !is_wildcard(host) ? host : "localhost", arena));
        return;
    }
    if (!access->is_everywhere) {
        add(access->urls, count, url_of(access, host, arena));
        return;
    }
    for (size_t i = 0; i < names->name_count && i < 1; i++)
        add(access->urls, count, url_of(access, names->names[i], arena));
    for (size_t i = 0; i < names->address_count; i++)
        add(access->urls, count, url_of(access, names->addresses[i], arena));
    if (*count == 0) add(access->urls, count, url_of(access, "localhost", arena));
}

static void add_hosts(struct access *access, const struct access_settings *settings,
                      const struct machine_names *names) {
    size_t *count = &access->host_count;
    add(access->hosts, count, "localhost");
    add(access->hosts, count, "127.0.0.1");
    add(access->hosts, count, "::1");
    add(access->hosts, count, settings->host);
    for (size_t i = 0; i < names->name_count; i++) add(access->hosts, count, names->names[i]);
    for (size_t i = 0; i < names->address_count; i++) add(access->hosts, count, names->addresses[i]);
    for (size_t i = 0; i < settings->allow_host_count; i++) add(access->hosts, count, settings->allow_hosts[i]);
    access->allowed_count = settings->allow_host_count;
}

bool access_init(struct access *access, struct arena *arena, const struct access_settings *settings) {
    const char *host = settings->host, *ancestors = settings->frame_ancestors ? settings->frame_ancestors : "'none'";
    size_t host_room = 2 * MACHINE_NAMES_MAX + 4 + settings->allow_host_count;
    *access = (struct access){.port = settings->port,
                              .is_everywhere = settings->bind_all || is_wildcard(host),
                              .is_shared = settings->bind_all || !is_loopback(host),
                              .is_socket = settings->socket_path != NULL,
                              .behind_proxy = settings->behind_proxy,
                              .is_https = settings->is_https,
                              .is_framed = strcmp(ancestors, "'none'") != 0,
                              .content_policy = content_policy(ancestors, arena),
                              .hosts = arena_new(arena, const char *, host_room),
                              .urls = arena_new(arena, const char *, 2 * MACHINE_NAMES_MAX + 4)};
    struct machine_names names;
    if (!access->content_policy || !access->hosts || !access->urls || !machine_names_read(arena, &names)) return false;
    if (!set_token(access, settings)) return false;
    add_hosts(access, settings, &names);
    add_urls(access, host, &names, arena);
    return true;
}

// --- The Host header ---

// "[::1]:6006" -> "::1", "Box.local.:80" -> "box.local". False when it is not of such a form.
static bool host_without_port(const char *header, char host[HOST_BYTES]) {
    bool is_bracketed = header[0] == '[';
    const char *start = header + is_bracketed, *end = is_bracketed ? strchr(start, ']') : start + strcspn(start, ":");
    if (!end || end == start || (size_t)(end - start) >= HOST_BYTES) return false;
    size_t size = (size_t)(end - start);
    for (size_t i = 0; i < size; i++) host[i] = (char)tolower((unsigned char)start[i]);
    if (size > 1 && host[size - 1] == '.') size--;
    host[size] = '\0';
    const char *port = end + is_bracketed;
    return *port == '\0' || (*port == ':' && port[1 + strspn(port + 1, "0123456789")] == '\0');
}

// "*.hub.example" is every name below hub.example.
static bool is_called(const char *pattern, const char *host) {
    size_t pattern_size = strlen(pattern), size = strlen(host);
    if (pattern[0] != '*' || pattern[1] != '.') return strcasecmp(pattern, host) == 0;
    return size >= pattern_size && strcasecmp(host + size - (pattern_size - 1), pattern + 1) == 0;
}

static bool names_our_port(const struct access *access, const char *header) {
    const char *bracket = strrchr(header, ']'), *colon = strchr(bracket ? bracket : header, ':');
    int usual = access->is_https ? HTTPS_PORT : HTTP_PORT;
    return (colon ? strtol(colon + 1, NULL, 10) : usual) == access->port;
}

static bool host_is_ours(const struct access *access, const struct access_request *request) {
    char host[HOST_BYTES];
    const char *header = request->host;
    if (access->is_socket) return true;
    if (!header || !host_without_port(header, host)) return false;
    for (size_t i = 0; i < access->host_count; i++) {
        if (is_called(access->hosts[i], host)) return true;
    }
    if (request->forwarded && request->forwarded->is_there && !names_our_port(access, header)) return true;
    return access->is_shared && is_address(host);  // the machine's outer address behind NAT; cannot be rebound
}

// As the browser has it: through a proxy that says so, or because the server itself encrypts.
static bool is_by_https(const struct access *access, const struct forwarded *forwarded) {
    return access->is_https || (forwarded && forwarded->is_https);
}

bool access_is_secure(const struct access *access, const char *header, const struct forwarded *forwarded) {
    char host[HOST_BYTES];
    if (is_by_https(access, forwarded)) return true;
    return header && host_without_port(header, host) && is_loopback(host);
}

bool access_is_allowed(const struct access *access, const char *header) {
    char host[HOST_BYTES];
    if (!host_without_port(header, host)) return false;
    for (size_t i = access->host_count - access->allowed_count; i < access->host_count; i++) {
        if (is_called(access->hosts[i], host)) return true;
    }
    return false;
}

// --- The token ---

// Takes the same time wherever the first difference is.
static bool token_equals(const struct access *access, const char *text, size_t size) {
    size_t token_size = strlen(access->token);
    unsigned difference = size != token_size;
    for (size_t i = 0; i < token_size; i++)
        difference |= (unsigned char)access->token[i] ^ (unsigned char)(i < size ? text[i] : 0);
    return difference == 0;
}

static bool cookie_has_token(const struct access *access, const char *cookies) {
    size_t name_size = strlen(access->cookie_name);
    bool found = false;
    for (const char *at = cookies; at && *at; at += strcspn(at, ";")) {
        at += strspn(at, "; \t");
        if (strncmp(at, access->cookie_name, name_size) != 0 || at[name_size] != '=') continue;
        const char *value = at + name_size + 1;
        found |= token_equals(access, value, strcspn(value, "; \t"));
    }
    return found;
}

static bool bearer_has_token(const struct access *access, const char *authorization) {
    if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0) return false;
    const char *value = authorization + 7 + strspn(authorization + 7, " ");
    return token_equals(access, value, strcspn(value, " \t"));
}

// Whether there is one at all, right or wrong.
static bool gives_cookie(const struct access *access, const char *cookies) {
    const char *at = cookies ? strstr(cookies, access->cookie_name) : NULL;
    return at && at[strlen(access->cookie_name)] == '=';
}

static bool gives_bearer(const char *authorization) {
    return authorization && strncasecmp(authorization, "Bearer ", 7) == 0 && authorization[7];
}

enum access_verdict access_judge(const struct access *access, const struct access_request *request) {
    if (!host_is_ours(access, request)) return ACCESS_WRONG_HOST;
    if (!access->token[0]) return ACCESS_GRANTED;
    const char *link = request->query_token;
    if (link && token_equals(access, link, strlen(link))) return ACCESS_GRANTED_BY_LINK;
    bool is_known = cookie_has_token(access, request->cookie) || bearer_has_token(access, request->authorization);
    if (is_known) return ACCESS_GRANTED;
    bool is_guess = (link && link[0]) || gives_cookie(access, request->cookie) || gives_bearer(request->authorization);
    return is_guess ? ACCESS_WRONG_TOKEN : ACCESS_NO_TOKEN;
}

// Browsers send a cookie to a frame inside another site only when it says so, and such a one only by https.
static const char *cookie_sites(const struct access *access, bool is_https) {
    if (!is_https) return "SameSite=Strict";
    return access->is_framed ? "SameSite=None; Secure; Partitioned" : "SameSite=Strict; Secure";
}

void access_cookie(const struct access *access, const struct forwarded *forwarded, char cookie[ACCESS_COOKIE_BYTES]) {
    snprintf(cookie, ACCESS_COOKIE_BYTES, "%s=%s; HttpOnly; %s; Path=%s/", access->cookie_name, access->token,
             cookie_sites(access, is_by_https(access, forwarded)), forwarded ? forwarded->prefix : "");
}

const char *access_outer_url(const struct access *access, const struct access_request *request, struct arena *arena) {
    const struct forwarded *forwarded = request->forwarded;
    return arena_printf(arena, "%s://%s%s/%s%s", is_by_https(access, forwarded) ? "https" : "http",
                        forwarded->host[0] ? forwarded->host : request->host, forwarded->prefix,
                        access->token[0] ? "?token=" : "", access->token);
}

static int hex_digit(char c) {
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;
    return at ? (int)(at - digits) : -1;
}

// Whether the argument's name ("%74oken=x", as it stands in the address) is `name`.
static bool is_named(const char *argument, const char *name) {
    const char *at = argument;
    for (; *name; name++) {
        int high = *at == '%' ? hex_digit(at[1]) : -1, low = high < 0 ? -1 : hex_digit(at[2]);
        char c = low < 0 ? *at : (char)(high * 16 + low);
        if (c != *name) return false;
        at += low < 0 ? 1 : 3;
    }
    return !*at || *at == '=' || *at == '&';
}

char *access_plain_target(const char *target, struct arena *arena) {
    char *result = arena_string(arena, bytes_of(target));
    char *query = result ? strchr(result, '?') : NULL;
    if (!query) return result;
    char *to = query;  // the separator to write before the next argument that stays
    for (const char *at = query + 1; *at;) {
        size_t size = strcspn(at, "&");
        const char *next = at + size + (at[size] == '&');
        if (size && !is_named(at, "token") && !is_named(at, ACCESS_RETRY)) {
            *to = to == query ? '?' : '&';
            memmove(to + 1, at, size);
            to += size + 1;
        }
        at = next;
    }
    *to = '\0';
    return result;
}

// The character there, however often it was percent-encoded ("%41", "%2541"). What comes after it.
static const char *next_character(const char *at, char *c) {
    *c = *at++;
    while (*c == '%' && hex_digit(at[0]) >= 0 && hex_digit(at[1]) >= 0) {
        *c = (char)(hex_digit(at[0]) * 16 + hex_digit(at[1]));
        at += 2;
    }
    return at;
}

// Behind as much of the token as begins there; NULL: too little.
static const char *behind_token(const char *at, const char *token) {
    size_t count = 0;
    for (char c; token[count] && *at; count++) {
        const char *next = next_character(at, &c);
        if (c != token[count]) break;
        at = next;
    }
    return count >= ACCESS_TOKEN_TOLD_BYTES ? at : NULL;
}

void access_hide_token(const struct access *access, char *text) {
    if (!access || !access->token[0]) return;
    char *to = text;
    for (const char *at = text; *at;) {
        const char *behind = behind_token(at, access->token);
        if (behind) {
            memcpy(to, ACCESS_HIDDEN, sizeof ACCESS_HIDDEN - 1);
            to += sizeof ACCESS_HIDDEN - 1;
            at = behind;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
}
