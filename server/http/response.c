#include "server/http/response.h"

#include <microhttpd.h>
#include <string.h>

#include "server/app.h"
#include "server/http/access.h"
#include "server/http/reply.h"

// --- Headers ---

static const struct {
    const char *name, *value;
} guards[] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
};

static bool add_header(struct MHD_Response *response, const char *name, const char *value) {
    return !value || !value[0] || MHD_add_response_header(response, name, value) == MHD_YES;
}

// Whoever asks whether a body is still the same has kept the guards of that body beside it (RFC 9111, 3.2), and what is
// left out here stays as it was. Pages have theirs anew: who may show them in a frame is told at the server's start.
static bool has_guards_already(const struct reply *reply) {
    static const char page[] = "text/html";
    bool is_page = reply->content_type && strncmp(reply->content_type, page, sizeof page - 1) == 0;
    return reply->status == HTTP_NOT_MODIFIED && !is_page;
}

static bool add_guards(struct MHD_Response *response, const struct request *request, const struct reply *reply,
                       bool is_secure) {
    bool is_good = add_header(response, "Content-Security-Policy", request->app->access->content_policy);
    for (size_t i = 0; i < sizeof guards / sizeof guards[0]; i++)
        is_good &= add_header(response, guards[i].name, guards[i].value);
    // Elsewhere browsers only complain of it.
    is_good &= add_header(response, "Cross-Origin-Opener-Policy", is_secure ? "same-origin" : NULL);
    return is_good & add_header(response, "Cross-Origin-Resource-Policy",
                                reply->is_for_any_site ? "cross-origin" : "same-origin");
}

static bool add_what_it_is(struct MHD_Response *response, const struct reply *reply) {
    bool has_body = reply->status != HTTP_NOT_MODIFIED && reply->status != HTTP_NO_CONTENT;
    bool is_good = add_header(response, "Content-Type", has_body ? reply->content_type : NULL);
    is_good &= add_header(response, "Content-Encoding", has_body && reply->is_gzip ? "gzip" : NULL);
    is_good &= add_header(response, "Cache-Control", reply->is_immutable ? "max-age=31536000, immutable" : "no-cache");
    return is_good & add_header(response, "ETag", reply->etag);
}

static bool add_rarer(struct MHD_Response *response, const struct reply *reply) {
    const struct {
        const char *name, *value;
    } rarer[] = {
        {"Allow", reply->allow},
        {"Connection", reply->is_last ? "close" : NULL},
        {"Location", reply->location},
        {"Set-Cookie", reply->set_cookie},
        {"Refresh", reply->refresh},
        {"Retry-After", reply->retry_after},
        {"Content-Disposition", reply->disposition},
        {"X-Hbmview-Left-Out", reply->left_out},
        {"X-Accel-Buffering", reply->stream.read ? "no" : NULL},  // a proxy must hand on what comes
    };
    bool is_good = true;
    for (size_t i = 0; i < sizeof rarer / sizeof rarer[0]; i++)
        is_good &= add_header(response, rarer[i].name, rarer[i].value);
    return is_good;
}

static bool asks_securely(const struct request *request) {
    return access_is_secure(request->app->access, request->headers.host, request->forwarded);
}

static bool add_headers(struct MHD_Response *response, const struct request *request, const struct reply *reply,
                        bool is_secure) {
    bool is_good = has_guards_already(reply) || add_guards(response, request, reply, is_secure);
    is_good &= add_header(response, "Vary", "Accept-Encoding");
    is_good &= add_what_it_is(response, reply);
    return is_good & add_rarer(response, reply);
}

bool response_add_headers(struct MHD_Response *response, const struct request *request, const struct reply *reply) {
    return add_headers(response, request, reply, asks_securely(request));
}

// --- Those that are kept ---

void ready_responses_free(struct ready_responses *ready) {
    for (size_t i = 0; i < READY_RESPONSES; i++) {
        struct MHD_Response *response = atomic_exchange(&ready->places[i], NULL);
        if (response) MHD_destroy_response(response);
    }
}

size_t ready_responses_bytes(const struct ready_responses *ready) {
    size_t count = 0;
    for (size_t i = 0; i < READY_RESPONSES; i++) count += atomic_load(&ready->places[i]) != NULL;
    return count * READY_RESPONSE_BYTES;
}

// Where the response of such a reply is kept; NULL: it says what the next answer with this body will not.
static struct MHD_Response *_Atomic *place_of(const struct reply *reply, bool is_secure) {
    bool is_304 = reply->status == HTTP_NOT_MODIFIED;
    bool is_usual = (is_304 || reply->status == HTTP_OK) && !reply->is_for_any_site && !reply->is_last;
    bool has_rarer = reply->allow || reply->location || reply->set_cookie || reply->refresh || reply->retry_after ||
                     reply->disposition || reply->left_out;
    return reply->ready && is_usual && !has_rarer ? &reply->ready->places[is_304 * 2 + is_secure] : NULL;
}

// False: it is still the caller's.
static bool keep(struct MHD_Response *_Atomic *place, struct MHD_Response *response) {
    struct MHD_Response *nothing = NULL;
    return atomic_compare_exchange_strong(place, &nothing, response);
}

// --- Sending ---

static void *mutable_pointer(const void *data) {
    union {
        const void *in;
        void *out;
    } pointer = {data};  // the library only reads what it is given so
    return pointer.out;
}

bool response_queue(struct MHD_Connection *connection, const struct request *request, const struct reply *reply) {
    bool is_secure = asks_securely(request);
    struct MHD_Response *_Atomic *place = place_of(reply, is_secure);
    struct MHD_Response *response = place ? atomic_load(place) : NULL;
    if (response) return MHD_queue_response(connection, reply->status, response) == MHD_YES;
    const void *body = reply->body.data ? (const void *)reply->body.data : "";
    response = MHD_create_response_from_buffer(reply->body.size, mutable_pointer(body), MHD_RESPMEM_PERSISTENT);
    if (!response) return false;
    bool is_whole = add_headers(response, request, reply, is_secure);
    bool is_kept = place && is_whole && keep(place, response);
    bool is_queued = is_whole && MHD_queue_response(connection, reply->status, response) == MHD_YES;
    if (!is_kept) MHD_destroy_response(response);
    return is_queued;
}
