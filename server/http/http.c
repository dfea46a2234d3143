#include "server/http/http.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/http/access.h"
#include "server/http/listener.h"
#include "server/http/reply.h"
#include "server/http/traffic.h"
#include "server/http/under_way.h"

enum { BODY_SWALLOWED_MAX_BYTES = 64 << 20, STREAM_BLOCK_BYTES = 4 << 10, STREAM_PATIENCE_MS = 1000 };

struct http_server {
    const struct app *app;
    struct MHD_Daemon *daemon;
};

// A connection, which may end without a word about the exchange that is under way: when libmicrohttpd runs out of
// memory for a request's arguments, say.
struct connection {
    struct exchange *exchange;
};

// A request and what only this file needs of it.
struct exchange {
    struct request request;
    struct forwarded forwarded;
    struct reply_stream stream;
    struct reading reading;
    int socket;
    struct timespec start;
    struct output body;  // what the client sends
    size_t body_bytes;
    bool has_begun;     // the headers are known
    bool has_bad_name;  // an argument has a NUL inside, or there are too many
    unsigned status;
    size_t reply_bytes;
    enum reply_family family;
};

// --- Making the request ---

static struct connection *connection_of(struct MHD_Connection *handle) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static int socket_of(struct MHD_Connection *handle) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static void *begin(void *app, const char *target, struct MHD_Connection *handle) {
    struct connection *connection = connection_of(handle);
    struct exchange *exchange = connection ? calloc(1, sizeof *exchange) : NULL;
    if (!exchange) return NULL;
    connection->exchange = exchange;
    const struct app *owner = app;
    exchange->request.app = owner;
    work_init(&exchange->request.work, owner->cache);
    reading_init(&exchange->reading);
    exchange->request.work.reading = &exchange->reading;
    exchange->socket = socket_of(handle);
    exchange->request.target = arena_string(&exchange->request.work.arena, bytes_of(target));
    output_init(&exchange->body, REQUEST_BODY_LIMIT_BYTES);
    clock_gettime(CLOCK_MONOTONIC, &exchange->start);
    return exchange;
}

static enum MHD_Result add_argument(void *to, enum MHD_ValueKind kind, const char *name, size_t name_size,
                                    const char *value, size_t value_size) {
    (void)kind;
    struct exchange *exchange = to;
    struct request *request = &exchange->request;
    bool is_bad = strlen(name) != name_size || (value && strlen(value) != value_size);
    if (is_bad || request->query_count == REQUEST_QUERY_MAX) {
        exchange->has_bad_name = true;
        return MHD_NO;
    }
    request->query[request->query_count++] = (struct request_argument){name, value ? value : ""};
    return MHD_YES;
}

static const char *header(struct MHD_Connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

// Whether the request comes from a program on this machine.
static bool is_near(struct MHD_Connection *handle) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info && info->client_addr && listener_peer_is_near(info->client_addr);
}

static void read_forwarded(struct MHD_Connection *connection, struct exchange *exchange) {
    struct request *request = &exchange->request;
    if (!access_believes(request->app->access, is_near(connection))) return;
    const struct forwarded_headers headers = {
        header(connection, "X-Forwarded-Host"), header(connection, "X-Forwarded-Prefix"),
        header(connection, "X-Forwarded-Proto"), header(connection, "X-Forwarded-For")};
    forwarded_read(&headers, &exchange->forwarded);
    request->forwarded = &exchange->forwarded;
    request->path = forwarded_path(&exchange->forwarded, request->path);
}

static void read_headers(struct MHD_Connection *connection, const char *method, const char *path,
                         struct exchange *exchange) {
    struct request *request = &exchange->request;
    request->method = method;
    request->path = path;
    request->headers = (struct request_headers){
        .host = header(connection, MHD_HTTP_HEADER_HOST),
        .cookie = header(connection, MHD_HTTP_HEADER_COOKIE),
        .authorization = header(connection, MHD_HTTP_HEADER_AUTHORIZATION),
        .accept_encoding = header(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING),
        .if_none_match = header(connection, MHD_HTTP_HEADER_IF_NONE_MATCH),
        .last_event_id = header(connection, "Last-Event-ID"),
    };
    read_forwarded(connection, exchange);
    MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, add_argument, exchange);
    if (!request->target || strstr(request->target, "%00")) exchange->has_bad_name = true;
    exchange->body.limit_bytes = request->app->body_limit(request);
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)HTTP_ANSWER_SECONDS);
}

// --- Sending the reply ---

static const struct {
    const char *name, *value;
} headers_of_all[] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Vary", "Accept-Encoding"},
};

static void add_header(struct MHD_Response *response, const char *name, const char *value) {
    if (value && value[0]) MHD_add_response_header(response, name, value);
}

static void add_headers(struct MHD_Response *response, const struct app *app, const struct reply *reply) {
    add_header(response, "Content-Security-Policy", app->access->content_policy);
    for (size_t i = 0; i < sizeof headers_of_all / sizeof headers_of_all[0]; i++)
        add_header(response, headers_of_all[i].name, headers_of_all[i].value);
    bool has_body = reply->status != HTTP_NOT_MODIFIED && reply->status != HTTP_NO_CONTENT;
    if (has_body) add_header(response, "Content-Type", reply->content_type);
    if (has_body && reply->is_gzip) add_header(response, "Content-Encoding", "gzip");
    add_header(response, "Cache-Control", reply->is_immutable ? "max-age=31536000, immutable" : "no-cache");
    add_header(response, "ETag", reply->etag);
    add_header(response, "Allow", reply->allow);
    add_header(response, "Location", reply->location);
    add_header(response, "Set-Cookie", reply->set_cookie);
    add_header(response, "Refresh", reply->refresh);
    add_header(response, "Content-Disposition", reply->disposition);
    if (reply->stream.read) add_header(response, "X-Accel-Buffering", "no");  // a proxy must hand on what comes
}

static void *mutable_pointer(const void *data) {
    union {
        const void *in;
        void *out;
    } pointer = {data};  // MHD_RESPMEM_PERSISTENT only reads it
    return pointer.out;
}

// A connection has its own thread, which may wait here.
static ssize_t read_stream(void *of, uint64_t at, char *to, size_t most) {
    (void)at;
    struct exchange *exchange = of;
    int64_t got;
    while ((got = exchange->stream.read(exchange->stream.state, to, most, STREAM_PATIENCE_MS)) == 0) {
        if (under_way_has_hung_up(exchange->socket)) return MHD_CONTENT_READER_END_OF_STREAM;
    }
    if (got > 0) exchange->reply_bytes += (size_t)got;
    return got > 0 ? (ssize_t)got : MHD_CONTENT_READER_END_OF_STREAM;
}

static struct MHD_Response *begin_stream(struct exchange *exchange, const struct reply_stream *stream) {
    exchange->stream = *stream;
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, read_stream, exchange, NULL);
}

// The body belongs to the request, which ends only when the reply was sent (see `end`).
static enum MHD_Result send_reply(struct MHD_Connection *connection, struct exchange *exchange,
                                  const struct reply *reply) {
    struct MHD_Response *response = reply->stream.read
                                        ? begin_stream(exchange, &reply->stream)
                                        : MHD_create_response_from_buffer(
                                              reply->body.size,
                                              mutable_pointer(reply->body.data ? (const void *)reply->body.data : ""),
                                              MHD_RESPMEM_PERSISTENT);
    if (!response) return MHD_NO;
    add_headers(response, exchange->request.app, reply);
    exchange->status = reply->status;
    exchange->family = reply->family;
    exchange->reply_bytes = reply->body.size;
    enum MHD_Result result = MHD_queue_response(connection, reply->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, struct exchange *exchange, unsigned status,
                              const char *why) {
    struct reply reply = {0};
    struct error error;
    error_set(&error, ERROR_BAD_REQUEST, "%s", why);
    reply_json_error(&exchange->request, &reply, status, status == HTTP_TOO_LARGE ? "too_big" : NULL, &error);
    return send_reply(connection, exchange, &reply);
}

static enum MHD_Result refuse_body(struct MHD_Connection *connection, struct exchange *exchange) {
    const char *why = arena_printf(&exchange->request.work.arena, "The request body is larger than %zu KiB.",
                                   exchange->body.limit_bytes >> 10);
    return refuse(connection, exchange, HTTP_TOO_LARGE, why ? why : "The request body is too large.");
}

static enum MHD_Result answer(struct MHD_Connection *connection, struct exchange *exchange) {
    if (exchange->has_bad_name)
        return refuse(connection, exchange, HTTP_BAD_REQUEST, "The address has too many arguments, or a NUL in it.");
    struct reply reply = {0};
    struct request *request = &exchange->request;
    const char *target = access_plain_target(request->target, &request->work.arena);
    struct under_way_request mine = {
        .target = target ? target : "", .socket = exchange->socket, .reading = &exchange->reading};
    request->body = output_bytes(&exchange->body);
    under_way_begin(request->app->under_way, &mine);
    request->app->answer(request, &reply);
    under_way_end(request->app->under_way, &mine);
    return send_reply(connection, exchange, &reply);
}

// A body that is too large is read to its end, so that its sender gets to see the answer, but not kept. False for one
// that does not end.
static bool take_body(struct exchange *exchange, struct bytes piece) {
    if (!exchange->body.failed) output_append(&exchange->body, piece);
    exchange->body_bytes += piece.size;
    return exchange->body_bytes <= exchange->body.limit_bytes + BODY_SWALLOWED_MAX_BYTES;
}

static enum MHD_Result finish(struct MHD_Connection *connection, struct exchange *exchange) {
    return exchange->body.failed ? refuse_body(connection, exchange) : answer(connection, exchange);
}

// --- What libmicrohttpd calls ---

static enum MHD_Result handle(void *app, struct MHD_Connection *connection, const char *path, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **state) {
    (void)app, (void)version;
    struct exchange *exchange = *state;
    if (!exchange) return MHD_NO;
    if (!exchange->has_begun) {
        exchange->has_begun = true;
        read_headers(connection, method, path, exchange);
        return MHD_YES;
    }
    if (exchange->status) return MHD_YES;
    if (*upload_size == 0) return finish(connection, exchange);
    bool is_welcome = take_body(exchange, (struct bytes){(const uint8_t *)upload, *upload_size});
    *upload_size = 0;
    return is_welcome ? MHD_YES : MHD_NO;
}

static double elapsed_ms(const struct timespec *start) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) * 1e3 + (double)(now.tv_nsec - start->tv_nsec) / 1e6;
}

static void count_exchange(const struct app *app, const struct exchange *exchange) {
    const struct traffic_answer answer = {.family = exchange->family,
                                          .status = exchange->status,
                                          .bytes = exchange->reply_bytes,
                                          .took_us = (uint64_t)(elapsed_ms(&exchange->start) * 1e3),
                                          .is_stream = exchange->stream.read != NULL};
    if (exchange->status) traffic_count(app->traffic, &answer);
}

// The target as it may go to a terminal: no control characters.
static const char *printable_target(struct exchange *exchange) {
    const char *target = exchange->request.target;
    const char *plain = target ? access_plain_target(target, &exchange->request.work.arena) : NULL;
    char *copy = plain ? arena_string(&exchange->request.work.arena, bytes_of(plain)) : NULL;
    for (char *c = copy; c && *c; c++) {
        if (*c < ' ' || *c == 0x7F) *c = '?';
    }
    return copy ? copy : "-";
}

static void log_exchange(struct exchange *exchange) {
    const char *method = exchange->request.method;
    fprintf(stderr, "%s %s %u %zu bytes %.2f ms\n", method ? method : "-", printable_target(exchange), exchange->status,
            exchange->reply_bytes, elapsed_ms(&exchange->start));
}

static void free_exchange(struct connection *connection) {
    struct exchange *exchange = connection ? connection->exchange : NULL;
    if (!exchange) return;
    output_free(&exchange->body);
    work_free(&exchange->request.work);
    free(exchange);
    connection->exchange = NULL;
}

static void end(void *app, struct MHD_Connection *handle, void **state, enum MHD_RequestTerminationCode how) {
    (void)how;
    const struct app *owner = app;
    struct exchange *exchange = *state;
    if (!exchange) return;
    count_exchange(owner, exchange);
    if (owner->options->verbose) log_exchange(exchange);
    MHD_set_connection_option(handle, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)HTTP_IDLE_SECONDS);
    free_exchange(connection_of(handle));
    *state = NULL;
}

static void notify_connection(void *app, struct MHD_Connection *handle, void **context,
                              enum MHD_ConnectionNotificationCode what) {
    (void)app, (void)handle;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *context = calloc(1, sizeof(struct connection));
        return;
    }
    free_exchange(*context);
    free(*context);
    *context = NULL;
}

// --- Start and stop ---

struct http_server *http_start(const struct app *app, int listening_socket) {
    struct http_server *server = calloc(1, sizeof *server);
    if (!server) return NULL;
    server->app = app;
    union {
        const struct app *in;
        void *out;
    } context = {app};
    server->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ITC, 0, NULL, NULL,
        handle, context.out, MHD_OPTION_LISTEN_SOCKET, listening_socket, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)HTTP_CONNECTIONS_PER_ADDRESS_MAX, MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HTTP_HEADERS_MAX_BYTES, MHD_OPTION_URI_LOG_CALLBACK, begin, context.out, MHD_OPTION_NOTIFY_COMPLETED,
        end, context.out, MHD_OPTION_NOTIFY_CONNECTION, notify_connection, NULL, MHD_OPTION_END);
    if (server->daemon) return server;
    free(server);
    return NULL;
}

void http_stop(struct http_server *server) {
    if (!server) return;
    MHD_stop_daemon(server->daemon);
    free(server);
}
