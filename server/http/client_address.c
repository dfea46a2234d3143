#include "server/http/client_address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { V6_NETWORK_BYTES = 8, WORD_BYTES = 64 };

static struct client_address of_v4(const struct in_addr *v4) {
    struct client_address address = {{0}};
    address.bytes[10] = address.bytes[11] = 0xFF;
    memcpy(address.bytes + 12, v4, sizeof *v4);
    return address;
}

static struct client_address of_v6(const struct in6_addr *v6) {
    struct client_address address = {{0}};
    memcpy(address.bytes, v6, IN6_IS_ADDR_V4MAPPED(v6) ? CLIENT_ADDRESS_BYTES : V6_NETWORK_BYTES);
    return address;
}

struct client_address client_address_of(const struct sockaddr *peer) {
    if (peer && peer->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, peer, sizeof v4);
        return of_v4(&v4.sin_addr);
    }
    if (!peer || peer->sa_family != AF_INET6) return (struct client_address){{0}};
    struct sockaddr_in6 v6;
    memcpy(&v6, peer, sizeof v6);
    return of_v6(&v6.sin6_addr);
}

bool client_address_is_same(const struct client_address *a, const struct client_address *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

uint32_t client_address_hash(const struct client_address *address) {
    uint32_t hash = 0x811c9dc5;  // FNV-1a
    for (size_t i = 0; i < CLIENT_ADDRESS_BYTES; i++) hash = (hash ^ address->bytes[i]) * 0x01000193;
    return hash ^ hash >> 16;
}

// "[2001:db8::1]:443" -> "2001:db8::1", "192.0.2.7:443" -> "192.0.2.7".
static void cut_port(char *word) {
    char *end = word[0] == '[' ? strchr(word, ']') : NULL, *colon = strchr(word, ':');
    if (end) {
        *end = '\0';
        memmove(word, word + 1, (size_t)(end - word));
    } else if (colon && !strchr(colon + 1, ':')) {
        *colon = '\0';
    }
}

bool client_address_forwarded(const char *header, struct client_address *address) {
    const char *comma = header ? strrchr(header, ',') : NULL, *last = comma ? comma + 1 : header;
    char word[WORD_BYTES];
    struct in_addr v4;
    struct in6_addr v6;
    if (!last) return false;
    last += strspn(last, " \t");
    snprintf(word, sizeof word, "%.*s", (int)strcspn(last, " \t"), last);
    cut_port(word);
    bool is_v4 = inet_pton(AF_INET, word, &v4) == 1, is_v6 = !is_v4 && inet_pton(AF_INET6, word, &v6) == 1;
    if (is_v4) *address = of_v4(&v4);
    if (is_v6) *address = of_v6(&v6);
    return is_v4 || is_v6;
}
