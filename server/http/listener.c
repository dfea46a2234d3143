#include "server/http/listener.h"

#include <fcntl.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { WAITING_CONNECTIONS_MAX = 4096 };  // a thousand may come at once, and who finds no place waits a second

static int port_of(int socket_fd) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (getsockname(socket_fd, (struct sockaddr *)&address, &size) != 0) return 0;
    if (address.ss_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, &address, sizeof v4);
        return ntohs(v4.sin_port);
    }
    struct sockaddr_in6 v6;
    memcpy(&v6, &address, sizeof v6);
    return ntohs(v6.sin6_port);
}

// -1: errno says why.
static int open_on(const struct addrinfo *address) {
    int fd = socket(address->ai_family, address->ai_socktype, address->ai_protocol);
    if (fd >= 0) fcntl(fd, F_SETFD, FD_CLOEXEC);  // the browser that --open starts must not keep the port
    if (fd < 0) return -1;
    int on = 1, off = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, WAITING_CONNECTIONS_MAX) == 0) return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

static void explain(int reason, const char *host, int port, char *problem) {
    if (reason == EADDRINUSE)
        snprintf(problem, LISTENER_PROBLEM_BYTES,
                 "Port %d is taken by another program; choose another one with --port=N, or --port=0 for any free one.",
                 port);
    else if (reason == EACCES)
        snprintf(problem, LISTENER_PROBLEM_BYTES, "Port %d needs administrator rights; choose one above 1023.", port);
    else
        snprintf(problem, LISTENER_PROBLEM_BYTES, "Cannot listen on %.100s, port %d: %s.", host, port,
                 strerror(reason));
}

// Tries what `host` resolves to, in order.
static bool open_first(const char *host, int port, struct listener *listener, char *problem) {
    char service[16];
    snprintf(service, sizeof service, "%d", port);
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
    int failure = getaddrinfo(host, service, &hints, &found);
    if (failure) {
        snprintf(problem, LISTENER_PROBLEM_BYTES, "--host=%.100s is no address of this machine: %s.", host,
                 gai_strerror(failure));
        return false;
    }
    listener->socket = -1;
    for (struct addrinfo *at = found; at && listener->socket < 0; at = at->ai_next) {
        listener->socket = open_on(at);
        if (listener->socket < 0) explain(errno, host, port, problem);
    }
    freeaddrinfo(found);
    if (listener->socket < 0) return false;
    listener->port = port_of(listener->socket);
    return true;
}

bool listener_open(const char *host, bool bind_all, int port, struct listener *listener,
                   char problem[LISTENER_PROBLEM_BYTES]) {
    if (!bind_all) return open_first(host ? host : "127.0.0.1", port, listener, problem);
    return open_first("::", port, listener, problem) || open_first("0.0.0.0", port, listener, problem);
}

// --- A socket file ---

static bool is_listened_on(const struct sockaddr_un *address) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return true;
    bool is_taken = connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 || errno != ECONNREFUSED;
    close(fd);
    return is_taken;
}

static bool make_room(const struct sockaddr_un *address, char *problem) {
    struct stat there;
    if (lstat(address->sun_path, &there) != 0) return true;
    if (!S_ISSOCK(there.st_mode)) {
        snprintf(problem, LISTENER_PROBLEM_BYTES, "--unix_socket=%s: something else stands there; it is not replaced.",
                 address->sun_path);
        return false;
    }
    if (!is_listened_on(address) && unlink(address->sun_path) == 0) return true;
    snprintf(problem, LISTENER_PROBLEM_BYTES, "--unix_socket=%s: another program listens there.", address->sun_path);
    return false;
}

static bool listen_on_file(int fd, const struct sockaddr_un *address) {
    // Linux makes the file with the mode of the socket: at no moment can others connect.
    return fchmod(fd, S_IRUSR | S_IWUSR) == 0 && bind(fd, (const struct sockaddr *)address, sizeof *address) == 0 &&
           listen(fd, WAITING_CONNECTIONS_MAX) == 0;
}

bool listener_open_file(const char *path, struct listener *listener, char problem[LISTENER_PROBLEM_BYTES]) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        snprintf(problem, LISTENER_PROBLEM_BYTES, "--unix_socket: the path of a socket has at most %zu bytes.",
                 sizeof address.sun_path - 1);
        return false;
    }
    memcpy(address.sun_path, path, strlen(path));
    if (!make_room(&address, problem)) return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *listener = (struct listener){.socket = fd, .path = path};
    if (fd >= 0 && listen_on_file(fd, &address) && lstat(path, &listener->file) == 0) return true;
    snprintf(problem, LISTENER_PROBLEM_BYTES, "--unix_socket=%s: %s.", path, strerror(errno));
    if (fd >= 0) close(fd);
    return false;
}

void listener_remove_file(const struct listener *listener) {
    struct stat now;
    if (!listener->path || lstat(listener->path, &now) != 0) return;
    if (now.st_ino == listener->file.st_ino && now.st_dev == listener->file.st_dev) unlink(listener->path);
}

bool listener_peer_is_near(const struct sockaddr *peer) {
    static const struct in6_addr v4_in_v6_loopback = {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127}}};
    enum { V4_IN_V6_BYTES = 13 };
    if (peer->sa_family == AF_UNIX) return true;
    if (peer->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, peer, sizeof v4);
        return ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    if (peer->sa_family != AF_INET6) return false;
    struct sockaddr_in6 v6;
    memcpy(&v6, peer, sizeof v6);
    return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) || memcmp(&v6.sin6_addr, &v4_in_v6_loopback, V4_IN_V6_BYTES) == 0;
}
