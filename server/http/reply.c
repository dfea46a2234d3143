#include "server/http/reply.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/refused_memory.h"
#include "server/app.h"
#include "server/http/access.h"
#include "server/text/error_json.h"
#include "server/http/gzip.h"

const char REPLY_JSON[] = "application/json";
const char REPLY_TEXT[] = "text/plain; charset=utf-8";
const char REPLY_HTML[] = "text/html; charset=utf-8";
const char REPLY_EVENTS[] = "text/event-stream";

static void release_output(void *output) {
    output_free(output);
}

struct output *reply_output(struct request *request, struct error *error) {
    struct output *output = arena_new(&request->work.arena, struct output, 1);
    if (output) output_init(output, OUTPUT_LIMIT_BYTES);
    if (output && work_defer(&request->work, release_output, output)) return output;
    work_out_of_memory(error);
    return NULL;
}

bool reply_written(struct reply *reply, const char *content_type, struct output *output, struct error *error) {
    if (output->failed) return error_set(error, ERROR_TOO_BIG, "The answer is larger than the limit of 1 GiB.");
    reply->status = HTTP_OK;
    reply->content_type = content_type;
    reply->body = output_bytes(output);
    reply->made = output;
    return true;
}

void reply_short(struct reply *reply, unsigned status, const char *content_type, const char *body) {
    reply->status = status;
    reply->content_type = content_type;
    reply->body = bytes_of(body);
}

unsigned reply_status_of(enum error_code code) {
    switch (code) {
        case ERROR_NOT_FOUND:
            return HTTP_NOT_FOUND;
        case ERROR_BAD_REQUEST:
            return HTTP_BAD_REQUEST;
        case ERROR_UNREADABLE:
        case ERROR_TRUNCATED:
        case ERROR_MALFORMED:
        case ERROR_TOO_BIG:
            return HTTP_UNPROCESSABLE;
        case ERROR_NONE:
        case ERROR_CODE_COUNT:
            break;
        case ERROR_STOPPED:
        case ERROR_NO_MEMORY:
            return HTTP_UNAVAILABLE;
    }
    return HTTP_SERVER_ERROR;
}

// Words of the request may be the token, which comes back to nobody. Whoever has not shown it sees what was sent: else
// it would tell whether a guess is right.
static struct error told_error(const struct request *request, const struct error *error) {
    struct error told = *error;
    if (!request->has_token) return told;
    access_hide_token(request->app->access, told.message);
    access_hide_token(request->app->access, told.file);
    return told;
}

void reply_json_error(struct request *request, struct reply *reply, unsigned status, const char *code,
                      const struct error *error) {
    struct error ignored;
    const struct error told = told_error(request, error);
    reply_short(reply, status, REPLY_JSON, "{\"error\":{\"code\":\"out_of_memory\",\"message\":\"out of memory\"}}");
    struct output *output = reply_output(request, &ignored);
    if (!output) return;
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    json_key(&w, "error");
    error_json_write_as(&w, code ? code : error_code_name(error->code), &told);
    json_close_object(&w);
    if (!output->failed) reply->body = output_bytes(output);
}

// XProf answers 404 to whatever its converters refuse, and 500 to files it cannot open; it never stops.
static unsigned xprof_status_of(enum error_code code) {
    if (code == ERROR_BAD_REQUEST) return HTTP_BAD_REQUEST;
    if (code == ERROR_NO_MEMORY || code == ERROR_STOPPED) return HTTP_UNAVAILABLE;
    return code == ERROR_UNREADABLE ? HTTP_SERVER_ERROR : HTTP_NOT_FOUND;
}

void reply_error(struct request *request, struct reply *reply, enum reply_family family, const struct error *error) {
    unsigned status = family == REPLY_XPROF ? xprof_status_of(error->code) : reply_status_of(error->code);
    if (family == REPLY_API) {
        reply_json_error(request, reply, status, NULL, error);
        return;
    }
    const struct error told = told_error(request, error);
    const char *text = told.file[0] ? arena_printf(&request->work.arena, "%s: %s\n", told.file, told.message)
                                    : arena_printf(&request->work.arena, "%s\n", told.message);
    reply_short(reply, status, REPLY_TEXT, text ? text : "out of memory\n");
}

void reply_settle(struct request *request, struct reply *reply, enum reply_family family, bool is_good, uint64_t before,
                  struct error *error) {
    if (memory_was_refused(before, error)) {
        *reply = (struct reply){.family = reply->family};
        is_good = false;
    }
    if (is_good) return;
    work_release(&request->work, release_output);  // what was written so far: nobody is sent it
    reply->made = NULL;
    reply->ready = NULL;
    reply_error(request, reply, family, error);
}

static void compress(struct request *request, struct reply *reply) {
    struct error ignored;
    struct output *output = reply_output(request, &ignored);
    if (!output || !gzip_compress(reply->body, output)) return;
    if (reply->made) output_free(reply->made);
    reply->made = output;
    reply->body = output_bytes(output);
    reply->ready = NULL;
    reply->is_gzip = true;
    etag_for_gzip(reply->etag, reply->etag);
}

static void trim(struct reply *reply) {
    enum { WORTHWHILE_BYTES = 64 << 10 };
    if (reply->made->capacity < WORTHWHILE_BYTES) return;
    output_trim(reply->made);
    reply->body = output_bytes(reply->made);
}

// It may wait for its reader for minutes: what was reserved ahead does not, nor what it was made of, nor a body that is
// not sent.
static void let_go(struct request *request, struct reply *reply) {
    if (!reply->ready) work_unpin(&request->work);
    if (!reply->made) return;
    if (reply->body.data == output_bytes(reply->made).data) {
        trim(reply);
    } else {
        output_free(reply->made);
        reply->made = NULL;
    }
}

static bool has_it_already(const struct request *request, const struct reply *reply) {
    return reply->status == HTTP_OK && etag_matches(reply->etag, request->headers.if_none_match);
}

void reply_finish(struct request *request, struct reply *reply) {
    if (reply->stream.read) return;
    if (reply->status == HTTP_OK && !reply->etag[0]) etag_of(reply->body, reply->etag);
    bool is_worthwhile = !reply->is_gzip && reply->body.size >= GZIP_WORTHWHILE_BYTES;
    if (has_it_already(request, reply)) {
        reply->status = HTTP_NOT_MODIFIED;
        reply->body = (struct bytes){0};
    } else if (is_worthwhile && request_accepts_gzip(request)) {
        compress(request, reply);
    }
    let_go(request, reply);
}

void reply_is_queued(struct request *request, struct reply *reply) {
    if (reply->status != HTTP_NOT_MODIFIED) return;
    reply->ready = NULL;
    work_unpin(&request->work);
}
