// The socket the server listens on.
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

struct sockaddr;

enum { LISTENER_PROBLEM_BYTES = 320 };

struct listener {
    int socket;
    int port;          // the real one when 0 was asked for; 0 for a socket file
    const char *path;  // of the socket file; NULL: there is none
    struct stat file;  // what it was when it was made
};

// `host` NULL is loopback (IPv4); with `bind_all` every address, IPv4 and IPv6. False: `problem` is one sentence.
bool listener_open(const char *host, bool bind_all, int port, struct listener *listener,
                   char problem[LISTENER_PROBLEM_BYTES]);

// Listens on the file `path`, which outlives the listener, for this user alone. A socket that nobody listens on any
// more makes room; whatever else stands there stays, and is a problem.
bool listener_open_file(const char *path, struct listener *listener, char problem[LISTENER_PROBLEM_BYTES]);

// Takes the socket file away, if it is still the listener's own.
void listener_remove_file(const struct listener *listener);

// Whether the other end is a program on this machine.
bool listener_peer_is_near(const struct sockaddr *peer);
