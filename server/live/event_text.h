// Events as a stream has them (text/event-stream), and what each says, as JSON:
//
//     id: 5f3a9c01-7
//     event: sessions
//     data: {"version":"...","added":[{"name":"run4",...}],"changed":[...],"removed":["run2"],...}
//
// An id is that of the server's run and the event's number in it: one of another run is nobody's here.
#pragma once

#include "server/live/session_news.h"
#include "server/text/output.h"

enum { EVENT_NAMES_MOST = 100, EVENT_ID_BYTES = 40, CATALOG_VERSION_BYTES = 20 };

// The version of the list of sessions, as /api/v1/sessions and events have it.
void catalog_version_text(uint64_t stamp, char text[CATALOG_VERSION_BYTES]);

// "sessions": what became of them. At most EVENT_NAMES_MOST of each kind by name; the rest is counted.
void event_write_news(struct output *output, uint64_t run, uint64_t number, const struct catalog *now,
                      const struct catalog_news *news);

// What a stream begins with. "hello": all is known that there is; "reload": what happened since is not.
struct event_greeting {
    bool is_reload;
    bool has_id;  // then the id is that of the newest event
    uint64_t run, number, stamp;
    const char *way;  // how the server hears of changes (lookout.h)
    unsigned heartbeat_s;
};
void event_write_greeting(struct output *output, const struct event_greeting *greeting);

// The number in an id of this run. False: it is of another one, or no id.
bool event_id_read(const char *id, uint64_t run, uint64_t *number);
