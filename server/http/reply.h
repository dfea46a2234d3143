// What a handler answers. Bodies are borrowed: from the request's work, or from constants.
//
//     handler ──> reply (body, type) ──> reply_finish: tag, 304, gzip ──> http.c sends it
//
// A handler returns false with *error filled; the router turns that into the error reply of its family (JSON for
// /api/v1, text for XProf's routes). One that has to load may be called twice: when the server is busy it first looks
// whether what is kept will do (workers.h, work.h), and what it answers then counts only if nothing was missing.
#pragma once

#include "server/text/etag.h"
#include "server/text/output.h"
#include "server/http/request.h"
#include "server/store/stillness.h"

enum http_status {
    HTTP_OK = 200,
    HTTP_NO_CONTENT = 204,
    HTTP_SEE_OTHER = 303,
    HTTP_NOT_MODIFIED = 304,
    HTTP_BAD_REQUEST = 400,
    HTTP_FORBIDDEN = 403,
    HTTP_NOT_FOUND = 404,
    HTTP_METHOD_NOT_ALLOWED = 405,
    HTTP_TOO_LARGE = 413,
    HTTP_UNPROCESSABLE = 422,  // the file's fault, not ours
    HTTP_TOO_MANY = 429,
    HTTP_SERVER_ERROR = 500,  // ours alone: an alarm may be set on it
    HTTP_UNAVAILABLE = 503,
};

// Who is asked decides how errors look.
enum reply_family {
    REPLY_API,    // JSON
    REPLY_XPROF,  // text, with XProf's statuses
    REPLY_PAGE,   // text
    REPLY_WATCH,  // text, for those who keep the server running
    REPLY_FAMILY_COUNT
};

// A reply that goes on: its bytes as they come up. `read` waits for nothing; 0: there is nothing yet (it is asked again
// when there is news, live_on_news, and twice a second); below 0: it is over. The state lives as long as the request.
struct reply_stream {
    int64_t (*read)(void *state, char *to, size_t most);
    void *state;
};

struct ready_responses;

struct reply {
    unsigned status;
    enum reply_family family;
    const char *content_type;
    struct bytes body;
    struct output *made;            // of the request's own, into which the body was written; NULL: it is elsewhere
    const char *kept_key;           // under which the body is in the cache; NULL: it is not
    struct stillness_mark since;    // when what it says was looked at, if that was before it was asked for; else {0}
    struct ready_responses *ready;  // this body's, ready to be sent (response.h); NULL: each is made anew
    struct reply_stream stream;     // where it can be read: instead of the body
    bool is_gzip;                   // `body` is gzipped already
    bool is_for_any_site;           // a page of any site may ask for it, though not read it
    bool is_last;                   // what else comes on the connection is not read
    bool is_immutable;              // what stands at this address will never be anything else
    char etag[ETAG_BYTES];          // of this body; "" lets reply_finish make it
    const char *allow, *location, *set_cookie, *refresh, *retry_after, *disposition,
        *left_out;  // headers; NULL for none
};

typedef bool request_handler(struct request *request, struct reply *reply, struct error *error);

extern const char REPLY_JSON[], REPLY_TEXT[], REPLY_HTML[], REPLY_EVENTS[];

// An output that lives as long as the request, to write a body into. NULL: *error is filled.
MUST_USE struct output *reply_output(struct request *request, struct error *error);

// The reply 200 with the body that was written. False: the output is past its limit.
MUST_USE bool reply_written(struct reply *reply, const char *content_type, struct output *output, struct error *error);

// A short body that lives long enough (a constant, or on the request's arena).
void reply_short(struct reply *reply, unsigned status, const char *content_type, const char *body);

unsigned reply_status_of(enum error_code code);

// {"error": {"code", "message", "file", "offset"}}; `code` overrides the error's name when it is not NULL.
void reply_json_error(struct request *request, struct reply *reply, unsigned status, const char *code,
                      const struct error *error);

// An error in the words of its family.
void reply_error(struct request *request, struct reply *reply, enum reply_family family, const struct error *error);

// What a handler returned, having begun when the system had refused memory `before` times: an error becomes an error
// reply, and so does an answer from which something may be missing for want of memory.
void reply_settle(struct request *request, struct reply *reply, enum reply_family family, bool is_good, uint64_t before,
                  struct error *error);

// Adds the entity tag; answers 304 when the client has this version; gzips what is worth it. What is not sent of all
// that was made is freed: the reader may take minutes, and it counts nowhere (unsent.h). A stream goes as it is.
void reply_finish(struct request *request, struct reply *reply);

// Its response (response.h) is made: one without a body needs nothing more of the cache.
void reply_is_queued(struct request *request, struct reply *reply);
