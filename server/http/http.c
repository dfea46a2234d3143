#include "server/http/http.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "analysis/base/processors.h"
#include "server/http/access.h"
#include "server/http/door.h"
#include "server/http/exchange.h"
#include "server/http/farewell.h"
#include "server/http/head.h"
#include "server/http/http_room.h"
#include "server/http/http_tls.h"
#include "server/http/listener.h"
#include "server/http/lobby.h"
#include "server/http/response.h"
#include "server/http/turns.h"

enum {
    STREAM_BLOCK_BYTES = 4 << 10,
    ARGUMENTS_READ_MAX = 100,     // of which a handler sees REQUEST_QUERY_MAX
    ARGUMENT_BYTES = 64,          // libmicrohttpd takes for each, beside the address itself
    HEAD_ROOM_BYTES = 4 << 10,    // it needs beside the address, and may take too much for what it reads
    ANSWER_ROOM_BYTES = 1 << 10,  // with less it can answer nothing
};

struct http_server {
    const struct app *app;
    struct MHD_Daemon *daemon;
    struct door *door;
    struct lobby *lobby;
    struct workers *workers;
    struct bodies *bodies;
    struct unsent *unsent;
    struct farewells *farewells;
    struct turns *turns;
    // The lock is held for what follows.
    pthread_mutex_t lock;
    struct connection *waiting;  // streams that have nothing to say now
    uint64_t news;               // grows when streams may have something to say
    bool is_stopping;
};

// A connection, which may end without a word about the exchange that is under way: when libmicrohttpd runs out of
// memory for a request's arguments, say.
struct connection {
    struct http_server *server;
    struct MHD_Connection *handle;
    struct guest guest;
    struct turn turn;
    struct exchange *exchange;
    struct connection *next_waiting;
    bool sends_on;  // it was answered before all of its request was there
};

// --- Making the request ---

// Of what lies in the library's own buffer of the connection, which its callback's type calls constant.
static char *writable(const char *text) {
    union {
        const char *in;
        char *out;
    } pointer = {text};
    return pointer.out;
}

static struct connection *connection_of(struct MHD_Connection *handle) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

// libmicrohttpd keeps each argument in the memory of the connection, and without room for one it neither answers nor
// closes.
static bool has_too_many_arguments(const char *target) {
    size_t count = 0;
    for (const char *at = target; (at = strchr(at, '&')); at++) count++;
    size_t taken = strlen(target) + count * ARGUMENT_BYTES;
    return count >= ARGUMENTS_READ_MAX || taken > HTTP_HEADERS_MAX_BYTES - HEAD_ROOM_BYTES;
}

// So that there is none, which takes no room, and the request gets its answer like all others.
static void drop_arguments(const char *target) {
    for (char *at = writable(target); (at = strpbrk(at, "?&"));) *at = '-';
}

static void *begin(void *server, const char *target, struct MHD_Connection *handle) {
    struct connection *connection = connection_of(handle);
    if (!connection) return NULL;
    struct http_server *owner = server;
    connection->exchange = exchange_begin(owner->app, target, connection->guest.socket);
    if (!has_too_many_arguments(target)) return connection->exchange;
    if (connection->exchange) connection->exchange->has_bad_name = true;
    if (strlen(target) > HTTP_HEADERS_MAX_BYTES - ANSWER_ROOM_BYTES)  // it would neither answer nor close
        shutdown(connection->guest.socket, SHUT_RDWR);
    drop_arguments(target);
    return connection->exchange;
}

static enum MHD_Result take_header(void *head, enum MHD_ValueKind kind, const char *name, size_t name_size,
                                   const char *value, size_t value_size) {
    (void)kind;
    head_take(head, name, name_size, value, value_size);
    return MHD_YES;
}

static enum MHD_Result add_argument(void *to, enum MHD_ValueKind kind, const char *name, size_t name_size,
                                    const char *value, size_t value_size) {
    (void)kind;
    return exchange_add_argument(to, name, name_size, value, value_size) ? MHD_YES : MHD_NO;
}

static const struct sockaddr *peer_of(struct MHD_Connection *handle) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

// Whether the request comes from a program on this machine.
static bool is_near(struct MHD_Connection *handle) {
    const struct sockaddr *peer = peer_of(handle);
    return peer && listener_peer_is_near(peer);
}

static void read_forwarded(struct MHD_Connection *connection, const struct head *head, struct exchange *exchange) {
    struct request *request = &exchange->request;
    if (!access_believes(request->app->access, is_near(connection))) return;
    const char *const *values = head->values;
    const struct forwarded_headers headers = {values[HEAD_FORWARDED_HOST], values[HEAD_FORWARDED_PREFIX],
                                              values[HEAD_FORWARDED_PROTO], values[HEAD_FORWARDED_FOR]};
    forwarded_read(&headers, &exchange->forwarded);
    request->forwarded = &exchange->forwarded;
    client_address_forwarded(headers.client, &request->client);
    request->path = forwarded_path(&exchange->forwarded, request->path);
}

static struct request_headers headers_of(const struct head *head) {
    const char *const *values = head->values;
    return (struct request_headers){
        .host = values[HEAD_HOST],
        .cookie = values[HEAD_COOKIE],
        .authorization = values[HEAD_AUTHORIZATION],
        .accept_encoding = values[HEAD_ACCEPT_ENCODING],
        .if_none_match = values[HEAD_IF_NONE_MATCH],
        .last_event_id = values[HEAD_LAST_EVENT_ID],
        .origin = values[HEAD_ORIGIN],
        .fetch_site = values[HEAD_FETCH_SITE],
    };
}

// False: the head can be read in two ways.
static bool read_head(struct MHD_Connection *connection, const char *method, const char *path,
                      struct exchange *exchange) {
    struct request *request = &exchange->request;
    struct head head = {0};
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, take_header, &head);
    request->method = method;
    request->path = path;
    request->headers = headers_of(&head);
    request->client = client_address_of(peer_of(connection));
    read_forwarded(connection, &head, exchange);
    MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, add_argument, exchange);
    if (request->target && strstr(request->target, "%00")) exchange->has_bad_name = true;
    exchange->body_limit = request->app->body_limit(request);
    exchange->announced_bytes = head_body_bytes(&head);
    return !head_is_ambiguous(&head);
}

// --- Streams: those with nothing to say are suspended until there is news, or it is time for a sign of life ---

static void hear_news(void *server) {
    struct http_server *owner = server;
    pthread_mutex_lock(&owner->lock);
    owner->news++;
    for (struct connection *one = owner->waiting, *next; one; one = next) {
        next = one->next_waiting;
        MHD_resume_connection(one->handle);
    }
    owner->waiting = NULL;
    pthread_mutex_unlock(&owner->lock);
}

static void tick(void *server) {
    struct http_server *owner = server;
    hear_news(owner);
    unsent_keep_to_budget(owner->unsent);
}

static uint64_t news_so_far(struct http_server *server) {
    pthread_mutex_lock(&server->lock);
    uint64_t news = server->news;
    pthread_mutex_unlock(&server->lock);
    return news;
}

// Unless there was news since `seen`.
static void wait_for_news(struct http_server *server, struct connection *connection, uint64_t seen) {
    pthread_mutex_lock(&server->lock);
    if (server->news == seen && !server->is_stopping) {
        MHD_suspend_connection(connection->handle);
        connection->next_waiting = server->waiting;
        server->waiting = connection;
    }
    pthread_mutex_unlock(&server->lock);
}

static ssize_t read_stream(void *of, uint64_t at, char *to, size_t most) {
    (void)at;
    struct connection *connection = of;
    struct exchange *exchange = connection->exchange;
    const struct reply_stream *stream = &exchange->reply.stream;
    uint64_t news = news_so_far(connection->server);
    int64_t got = stream->read(stream->state, to, most);
    bool has_left = got == 0 && under_way_has_closed(connection->guest.socket);
    if (got < 0 || has_left) return MHD_CONTENT_READER_END_OF_STREAM;
    if (got == 0) wait_for_news(connection->server, connection, news);
    exchange->reply_bytes += (uint64_t)got;
    return (ssize_t)got;
}

// --- Sending the reply ---

static bool queue_stream(struct connection *connection, const struct reply *reply) {
    struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, read_stream,
                                                                      connection, NULL);
    if (!response) return false;
    bool is_queued = response_add_headers(response, &connection->exchange->request, reply) &&
                     MHD_queue_response(connection->handle, reply->status, response) == MHD_YES;
    MHD_destroy_response(response);
    return is_queued;
}

// The body belongs to the request, which ends only when the reply was sent (see `end`).
static enum MHD_Result send_reply(struct connection *connection) {
    struct exchange *exchange = connection->exchange;
    const struct reply *reply = &exchange->reply;
    bool is_stream = reply->stream.read != NULL;
    exchange->reply_bytes = reply->body.size;
    lobby_now(connection->server->lobby, &connection->guest, is_stream ? GUEST_LISTENS : GUEST_DOWNLOADS,
              reply->body.size);
    bool is_queued = is_stream ? queue_stream(connection, reply)
                               : response_queue(connection->handle, &exchange->request, reply);
    if (!is_queued) return MHD_NO;
    size_t own_bytes = exchange->request.work.arena.used_bytes;
    unsent_begin(connection->server->unsent, &exchange->unsent, connection->guest.socket, &exchange->request.client,
                 reply->body, own_bytes);
    exchange_goes_out(exchange);  // libmicrohttpd sends nothing before `handle` returns
    if (is_stream) turns_end(connection->server->turns, &connection->turn);
    return MHD_YES;
}

// --- Answering: the connection is suspended while it waits for its turn, or a worker is at it ---

static void resume_in_turn(void *handle) {
    MHD_resume_connection(handle);
}

static void wait_for_turn(struct turns *turns, struct connection *connection) {
    MHD_suspend_connection(connection->handle);
    turns_wait(turns, &connection->turn);
}

static void refuse_busy(struct exchange *exchange) {
    exchange_leaves(exchange);
    exchange_refuse_busy(exchange);
}

static bool work_on(void *connection, bool may_load) {
    struct connection *of = connection;
    return exchange_answer(of->exchange, may_load);
}

static void resume(void *connection) {
    struct connection *of = connection;
    if (of->exchange->job.is_refused) refuse_busy(of->exchange);
    MHD_resume_connection(of->handle);
}

static void hand_over(struct http_server *server, struct connection *connection) {
    struct exchange *exchange = connection->exchange;
    exchange->job = (struct worker_job){.work = work_on,
                                        .done = resume,
                                        .context = connection,
                                        .asker = &connection->guest.address->asker,
                                        .is_urgent = server->app->is_urgent(&exchange->request),
                                        .has_to_load = exchange->came_bytes > 0};
    exchange->reading.asker = exchange->job.asker;
    exchange_goes_under_way(exchange);
    MHD_suspend_connection(connection->handle);
    if (workers_take(server->workers, &exchange->job)) return;
    refuse_busy(exchange);
    MHD_resume_connection(connection->handle);
}

static enum MHD_Result hand_to_worker(struct http_server *server, struct connection *connection) {
    if (!lobby_serves(server->lobby, &connection->guest)) {
        exchange_refuse_busy(connection->exchange);
        return send_reply(connection);
    }
    pthread_mutex_lock(&server->lock);
    bool is_stopping = server->is_stopping;
    if (!is_stopping) hand_over(server, connection);
    pthread_mutex_unlock(&server->lock);
    return is_stopping ? MHD_NO : MHD_YES;
}

static enum MHD_Result take_body(struct http_server *server, struct connection *connection, struct bytes piece) {
    if (!connection->exchange->came_bytes) lobby_now(server->lobby, &connection->guest, GUEST_UPLOADS, 0);
    lobby_came(server->lobby, &connection->guest, piece.size);
    return exchange_take_body(connection->exchange, server->bodies, piece) ? MHD_YES : MHD_NO;
}

// The head is there. What is refused for it alone is answered while the body may still come.
static enum MHD_Result begin_answer(struct connection *connection, bool is_clear) {
    struct exchange *exchange = connection->exchange;
    if (!is_clear)
        exchange_refuse_head(exchange);
    else if (!exchange_refuses_length(exchange))
        return MHD_YES;
    connection->sends_on = true;
    return send_reply(connection);
}

static bool is_answered_here(struct exchange *exchange) {
    if (exchange->is_for_worker) return false;
    exchange->is_for_worker = exchange_is_to_be_answered(exchange) && !exchange_answer_at_once(exchange);
    return !exchange->is_for_worker;
}

// It is all there. Without a reply the library asks again in its next turn. It is to know that nothing more is to be
// read before the connection is suspended: else it reads once more when it is resumed, and closes it without an answer
// when its client has closed its half.
static enum MHD_Result take_request(struct http_server *server, struct connection *connection) {
    struct exchange *exchange = connection->exchange;
    bool is_its_turn = turns_ask(server->turns, &connection->turn), was_known = exchange->is_known_whole;
    if (exchange->is_answered || (is_its_turn && is_answered_here(exchange))) return send_reply(connection);
    exchange->is_known_whole = true;
    if (was_known && is_its_turn) return hand_to_worker(server, connection);
    if (was_known) wait_for_turn(server->turns, connection);
    return MHD_YES;
}

// --- What libmicrohttpd calls ---

static enum MHD_Result handle(void *server, struct MHD_Connection *handle, const char *path, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **state) {
    (void)version;
    struct http_server *owner = server;
    struct exchange *exchange = *state;
    struct connection *connection = connection_of(handle);
    if (!exchange || !connection) return MHD_NO;
    if (!exchange->has_begun) {
        exchange->has_begun = true;
        return begin_answer(connection, read_head(handle, method, path, exchange));
    }
    if (exchange->is_sent) return MHD_YES;
    if (*upload_size) {
        struct bytes piece = {(const uint8_t *)upload, *upload_size};
        *upload_size = 0;
        return take_body(owner, connection, piece);
    }
    return take_request(owner, connection);
}

static void end(void *server, struct MHD_Connection *handle, void **state, enum MHD_RequestTerminationCode how) {
    (void)how;
    struct http_server *owner = server;
    struct connection *connection = connection_of(handle);
    struct exchange *exchange = *state;
    *state = NULL;
    if (!exchange || !connection) return;
    exchange_end(exchange);
    exchange_free(exchange);
    connection->exchange = NULL;
    turns_end(owner->turns, &connection->turn);
    lobby_now(owner->lobby, &connection->guest, GUEST_WAITS, 0);
}

static bool let_in(void *server, int socket, const struct sockaddr *peer, socklen_t peer_size) {
    struct http_server *owner = server;
    return MHD_add_connection(owner->daemon, socket, peer, peer_size) == MHD_YES;
}

static int socket_of(struct MHD_Connection *handle) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static struct connection *welcome(struct http_server *server, struct MHD_Connection *handle) {
    int socket = socket_of(handle);
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection) return NULL;
    *connection = (struct connection){.server = server, .handle = handle, .turn = {.context = handle}};
    if (lobby_enter(server->lobby, &connection->guest, socket, peer_of(handle))) return connection;
    shutdown(socket, SHUT_RDWR);
    free(connection);
    return NULL;
}

static void take_leave(struct http_server *server, struct connection *connection) {
    if (!connection) return;
    if (connection->sends_on) farewells_take(server->farewells, connection->guest.socket);
    exchange_free(connection->exchange);
    turns_end(server->turns, &connection->turn);
    lobby_leave(server->lobby, &connection->guest);
    free(connection);
}

static void notify_connection(void *server, struct MHD_Connection *handle, void **context,
                              enum MHD_ConnectionNotificationCode what) {
    struct http_server *owner = server;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *context = welcome(owner, handle);
        return;
    }
    take_leave(owner, *context);
    *context = NULL;
    door_left(owner->door, socket_of(handle));
}

// --- Start and stop ---

// Each loop may have all connections: the door counts them, and libmicrohttpd's own limit is for none to meet.
static bool start_daemon(struct http_server *server, size_t connections_max) {
    struct MHD_OptionItem items[HTTP_TLS_OPTIONS];
    const struct tls_files *tls = server->app->tls;
    unsigned loops = processors_usable(HTTP_LOOPS_MAX), limit = (unsigned)(connections_max + 1) * loops;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_TURBO | (tls ? MHD_USE_TLS : 0);
    http_tls_options(tls, items);
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, handle, server, MHD_OPTION_THREAD_POOL_SIZE, loops, MHD_OPTION_CONNECTION_LIMIT, limit,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_STALL_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HTTP_HEADERS_MAX_BYTES, MHD_OPTION_URI_LOG_CALLBACK, begin, server, MHD_OPTION_NOTIFY_COMPLETED, end,
        server, MHD_OPTION_NOTIFY_CONNECTION, notify_connection, server, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
    return server->daemon;
}

static bool start_serving(struct http_server *server, int listening_socket, size_t connections_max) {
    if (!start_daemon(server, connections_max)) return false;
    if (door_open(server->door, listening_socket)) return true;
    MHD_stop_daemon(server->daemon);
    return false;
}

static void free_server(struct http_server *server) {
    workers_free(server->workers);
    door_free(server->door);
    lobby_free(server->lobby);
    bodies_free(server->bodies);
    unsent_free(server->unsent);
    farewells_free(server->farewells);
    turns_free(server->turns);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

struct http_server *http_start(const struct app *app, int listening_socket) {
    struct http_server *server = calloc(1, sizeof *server);
    if (!server) return NULL;
    size_t connections_max = http_room_connections(app->tls), connections_most = connections_max + HTTP_ROOM_SPARE;
    const struct workers_rules rules = http_room_workers(connections_max);
    server->app = app;
    pthread_mutex_init(&server->lock, NULL);
    server->workers = workers_new(&rules);
    server->unsent = unsent_new(http_room_share(UNSENT_MAX_BYTES));
    server->lobby = server->unsent ? lobby_new(connections_max, connections_max * 3 / 4, tick, server) : NULL;
    server->bodies = bodies_new(http_room_share(BODIES_MAX_BYTES));
    server->door = door_new(connections_most, let_in, server);
    server->farewells = farewells_new();
    server->turns = turns_new(TURN_MS, resume_in_turn);
    bool is_good = server->workers && server->lobby && server->bodies && server->door && server->farewells &&
                   server->turns;
    if (is_good) live_on_news(app->live, hear_news, server);
    if (is_good && start_serving(server, listening_socket, connections_most)) return server;
    if (is_good) live_on_news(app->live, NULL, NULL);
    free_server(server);
    return NULL;
}

void http_stop(struct http_server *server) {
    if (!server) return;
    pthread_mutex_lock(&server->lock);
    server->is_stopping = true;
    pthread_mutex_unlock(&server->lock);
    door_close(server->door);
    live_on_news(server->app->live, NULL, NULL);
    hear_news(server);
    turns_stop(server->turns);
    workers_finish(server->workers);
    MHD_stop_daemon(server->daemon);
    free_server(server);
}
