// What is new in the log directory, as server-sent events (server/live/live.h).
#include "analysis/base/id_map.h"
#include "server/api/api.h"
#include "server/app.h"

static int64_t hear(void *listener, char *to, size_t most) {
    return live_hear(listener, to, most);
}

static void leave(void *listener) {
    live_leave(listener);
}

static bool refuse(struct request *request, struct reply *reply, const struct error *error) {
    reply_json_error(request, reply, HTTP_UNAVAILABLE, "too_many_listeners", error);
    return true;
}

static bool heartbeat_of(const struct request *request, int64_t *seconds, struct error *error) {
    if (!request_int64(request, "heartbeat", LIVE_HEARTBEAT_SECONDS, seconds, error)) return false;
    if (*seconds >= 1 && *seconds <= LIVE_HEARTBEAT_MAX_SECONDS) return true;
    return error_set(error, ERROR_BAD_REQUEST, "heartbeat is a number of seconds from 1 to %d.",
                     LIVE_HEARTBEAT_MAX_SECONDS);
}

static int64_t number_of(const struct client_address *client) {
    return id_map_key((struct bytes){client->bytes, sizeof client->bytes});
}

bool api_events(struct request *request, struct reply *reply, struct error *error) {
    const char *last_id = request->headers.last_event_id;
    int64_t heartbeat_s;
    if (!heartbeat_of(request, &heartbeat_s, error)) return false;
    if (!last_id) last_id = request_given(request, "last_event_id");
    struct live *live = request->app->live;
    if (!live) return error_set(error, ERROR_BAD_REQUEST, "Only a server that runs has events.");
    struct live_listener *listener = live_listen(live, number_of(&request->client), last_id, (unsigned)heartbeat_s,
                                                 error);
    if (!listener) return refuse(request, reply, error);
    if (!work_defer(&request->work, leave, listener)) return work_out_of_memory(error);
    reply->status = HTTP_OK;
    reply->content_type = REPLY_EVENTS;
    reply->stream = (struct reply_stream){hear, listener};
    return true;
}
