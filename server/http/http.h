// HTTP by libmicrohttpd: the only place that includes its header. One thread for each connection, so that a long load
// holds up nobody else. The request is made when its first line arrives and freed after its reply was sent.
#pragma once

#include "server/app.h"

enum {
    HTTP_CONNECTIONS_MAX = 256,
    HTTP_CONNECTIONS_PER_ADDRESS_MAX = 192,  // one client cannot take all
    HTTP_IDLE_SECONDS = 30,     // how long a client may take to send a request, or keep a connection without one
    HTTP_ANSWER_SECONDS = 900,  // how long an answer may take
    HTTP_HEADERS_MAX_BYTES = 32 << 10,
};

struct http_server;

// Serves on a listening socket, which it owns from now on. NULL: it could not start.
struct http_server *http_start(const struct app *app, int listening_socket);

// Finishes what is being answered, and closes everything.
void http_stop(struct http_server *server);
