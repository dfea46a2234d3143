// Lets clients in, by a thread of its own: as soon as they come, whatever the loops are doing meanwhile.
//
//     listening socket --> accepted --let_in--> a loop's ... --door_left--> room for another
//
// libmicrohttpd would accept ten connections a turn of a loop, after which it serves all that have something to say:
// who came behind hundreds of others waited for dozens of turns. At most `most` are let in and have not left; who comes
// then waits with the system. Thread-safe.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct door;

enum { DOOR_SOCKETS_MAX = 1 << 16 };  // no connection has a descriptor of this number or a larger one

// It owns the client's socket from then on, and has closed it when it returns false.
typedef bool door_let_in(void *context, int socket, const struct sockaddr *peer, socklen_t peer_size);

// NULL: no memory.
struct door *door_new(size_t most, door_let_in *let_in, void *context);

// From now on it lets in, and owns the listening socket. False: there is no thread for it.
bool door_open(struct door *door, int listening_socket);

// Nobody is let in any more when it returns. Of one that was opened.
void door_close(struct door *door);
void door_free(struct door *door);  // and all have left; NULL is fine

// Is about to be closed. One that was closed without a word is noticed when its number comes again.
void door_left(struct door *door, int socket);
