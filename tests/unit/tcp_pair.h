// Both ends of a connection over TCP, for tests of what the system tells of one. They are the caller's to close.
#pragma once

#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static inline void tcp_pair(int *mine, int *theirs) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(listener, 1) != 0) abort();
    if (getsockname(listener, (struct sockaddr *)&at, &size) != 0) abort();
    *mine = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(*mine, (struct sockaddr *)&at, sizeof at) != 0) abort();
    *theirs = accept(listener, NULL, NULL);
    if (*theirs < 0) abort();
    close(listener);
}
