// How many connections there may be, how many are answered side by side, and how much memory those who come and go may
// take.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "server/http/workers.h"

enum { HTTP_ROOM_SPARE = 512 };  // connections beside: of those who were dropped, until the loop has closed them

// As many as descriptors and a limit for the whole process (--memory_limit) leave room for: the
// library's memory for them counts nowhere. Raises the limit of descriptors to what this user may have.
size_t http_room_connections(bool is_encrypted);

// Of a limit for the whole process what comes takes a quarter at most; so does what goes, and who is there, but for
// HTTP_ROOM_SPARE. Without one `most_bytes`.
size_t http_room_share(size_t most_bytes);

struct workers_rules http_room_workers(size_t connections_max);
