// The socket the server listens on.
#pragma once

#include <stdbool.h>

enum { LISTENER_PROBLEM_BYTES = 320 };

struct listener {
    int socket;
    int port;  // the real one when 0 was asked for
};

// `host` NULL is loopback (IPv4); with `bind_all` every address, IPv4 and IPv6. False: `problem` is one sentence.
bool listener_open(const char *host, bool bind_all, int port, struct listener *listener,
                   char problem[LISTENER_PROBLEM_BYTES]);
