#define _DEFAULT_SOURCE  // IFF_UP, NI_MAXHOST
#include "server/http/machine_names.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HOST_NAME_BYTES = 256, LINE_BYTES = 1024 };

static void add(const char **list, size_t *count, const char *text) {
    if (!text || *count == MACHINE_NAMES_MAX) return;
    for (size_t i = 0; i < *count; i++) {
        if (strcmp(list[i], text) == 0) return;
    }
    list[(*count)++] = text;
}

static bool address_text(const struct sockaddr *address, char *text, socklen_t size) {
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        return inet_ntop(AF_INET, &v4.sin_addr, text, size) != NULL;
    }
    struct sockaddr_in6 v6;
    memcpy(&v6, address, sizeof v6);
    return !IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr) && inet_ntop(AF_INET6, &v6.sin6_addr, text, size) != NULL;
}

static void add_addresses(const struct ifaddrs *all, int family, struct arena *arena, struct machine_names *names) {
    for (const struct ifaddrs *at = all; at; at = at->ifa_next) {
        if (!at->ifa_addr || at->ifa_addr->sa_family != family) continue;
        if (!(at->ifa_flags & IFF_UP) || (at->ifa_flags & IFF_LOOPBACK)) continue;
        char text[INET6_ADDRSTRLEN];
        if (address_text(at->ifa_addr, text, sizeof text))
            add(names->addresses, &names->address_count, arena_string(arena, bytes_of(text)));
    }
}

static void lower(char *text) {
    for (; *text; text++) *text = (char)tolower((unsigned char)*text);
}

static void add_search_domains(const char *host, struct arena *arena, struct machine_names *names) {
    FILE *file = fopen("/etc/resolv.conf", "re");
    if (!file) return;
    char line[LINE_BYTES];
    while (fgets(line, sizeof line, file)) {
        char *rest, *word = strtok_r(line, " \t\n", &rest);
        if (!word || (strcmp(word, "search") != 0 && strcmp(word, "domain") != 0)) continue;
        while ((word = strtok_r(NULL, " \t\n", &rest))) {
            lower(word);
            if (strcmp(word, ".") != 0) add(names->names, &names->name_count, arena_printf(arena, "%s.%s", host, word));
        }
    }
    fclose(file);
}

bool machine_names_read(struct arena *arena, struct machine_names *names) {
    *names = (struct machine_names){.addresses = arena_new(arena, const char *, MACHINE_NAMES_MAX),
                                    .names = arena_new(arena, const char *, MACHINE_NAMES_MAX)};
    if (!names->addresses || !names->names) return false;
    char host[HOST_NAME_BYTES] = "";
    if (gethostname(host, sizeof host - 1) == 0 && host[0]) {
        lower(host);
        add(names->names, &names->name_count, arena_string(arena, bytes_of(host)));
        if (!strchr(host, '.')) add_search_domains(host, arena, names);
    }
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0) return true;
    add_addresses(all, AF_INET, arena, names);
    add_addresses(all, AF_INET6, arena, names);
    freeifaddrs(all);
    return true;
}
