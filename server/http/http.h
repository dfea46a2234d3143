// HTTP by libmicrohttpd: with http_tls.c and response.c the only place that includes its header.
//
//     door (door.h): accepts
//     loop (epoll): reads heads and bodies, sends                          workers: a few threads, more when they wait
//        what is at hand (app.answer_at_once) is answered there
//        else the connection is suspended, a job -------------------------> handler makes the reply
//        reply goes out as fast as its reader takes it <---- resumed ------ done
//
// There is a loop for each core it may use, up to HTTP_LOOPS_MAX, which get the connections by turns and keep them.
// So an idle, dripping or slowly reading client costs a descriptor and a buffer, and never a thread; whoever dawdles is
// dropped (lobby.h), sooner when its answer takes memory that others need (unsent.h). A load that takes long holds a
// worker, of which no address gets all, and some are kept for what needs no load or is urgent (workers.h). Who asks
// while too much waits already is told so at once (503). Of those who ask again as soon as they are answered few are
// answered at a time when they are many (turns.h). Streams of events are suspended while nothing is new
// (live_on_news). With a certificate (app.tls) the loop encrypts as well; the lobby's deadlines run from the connection
// on, so a handshake that does not end is dropped as a head is.
//
// The request is made when its first line arrives and freed after its reply was sent.
#pragma once

#include "server/app.h"

enum {
    HTTP_LOOPS_MAX = 4,
    HTTP_STALL_SECONDS = 60,  // without a byte in either direction
    // All of a head; libmicrohttpd clears it after each request. Cookies count twice, each takes 64 bytes more: 8 KB of
    // them in 100 pieces have room. It is malloc's, untouched until somebody asks; a larger one would be mapped.
    HTTP_HEADERS_MAX_BYTES = 32 << 10,
};

struct http_server;

// Serves on a listening socket, which it owns from now on. Raises the limit of descriptors to what this user may have.
// NULL: it could not start.
struct http_server *http_start(const struct app *app, int listening_socket);

// Finishes what is being answered, and closes everything.
void http_stop(struct http_server *server);
