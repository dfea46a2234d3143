#include "server/mcp/mcp_session.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/refused_memory.h"
#include "server/mcp/mcp_calls.h"

struct mcp_session {
    struct mcp_calls calls;
    struct output gathered;  // of the line that comes
    bool is_skipping;        // the rest of a line that is too long
    uint64_t refusals;       // of memory, when the line began
};

// --- Methods ---

static void answer(struct mcp_session *session, const json_t *id, const char *key, json_t *value) {
    mcp_calls_answer(&session->calls, id, key, value, session->refusals);
}

static void refuse(struct mcp_session *session, const json_t *id, enum mcp_error_code code, const char *problem) {
    answer(session, id, "error", json_pack("{s:i, s:s}", "code", code, "message", problem));
}

static void call_tool(struct mcp_session *session, struct mcp_message *message, enum mcp_era era) {
    const struct mcp_tool *tool = mcp_tool_find(json_string_value(json_object_get(message->params, "name")));
    if (!tool)
        refuse(session, message->id, MCP_INVALID_PARAMS, "There is no such tool; tools/list says which there are.");
    else if (!mcp_calls_begin(&session->calls, message, era, tool))
        refuse(session, message->id, MCP_BUSY, "Too many calls are being answered; ask again when one is done.");
}

static void answer_request(struct mcp_session *session, struct mcp_message *message) {
    enum mcp_era era = mcp_era_of(message);
    const char *method = message->method;
    if (era == MCP_UNKNOWN_ERA) {
        answer(session, message->id, "error", mcp_unsupported(message));
        return;
    }
    if (!strcmp(method, "tools/call")) {
        call_tool(session, message, era);
        return;
    }
    bool is_list = !strcmp(method, "tools/list"), is_discovery = !strcmp(method, "server/discover");
    json_t *result = is_list                         ? mcp_tools_list()
                     : is_discovery                  ? mcp_discover()
                     : !strcmp(method, "initialize") ? mcp_initialize(message)
                     : !strcmp(method, "ping")       ? json_object()
                                                     : NULL;
    if (!result) {
        refuse(session, message->id, MCP_METHOD_NOT_FOUND, "There is no such method; here are tools only.");
        return;
    }
    mcp_complete_result(result, is_discovery ? MCP_MODERN : era, is_list || is_discovery);
    answer(session, message->id, "result", result);
}

static void take_line(struct mcp_session *session, struct bytes line) {
    struct mcp_message message;
    mcp_message_read(line, &message);
    if (message.kind == MCP_BAD)
        refuse(session, message.id, message.code, message.problem);
    else if (message.kind == MCP_REQUEST)
        answer_request(session, &message);
    else if (message.kind == MCP_NOTIFICATION && !strcmp(message.method, "notifications/cancelled"))
        mcp_calls_cancel(&session->calls, json_object_get(message.params, "requestId"));
    mcp_message_free(&message);
}

// --- Lines ---

static void begin_line(struct mcp_session *session) {
    output_init(&session->gathered, MCP_LINE_BYTES_MAX);
    session->is_skipping = false;
    session->refusals = memory_refusals();
}

static bool is_blank(struct bytes line) {
    for (size_t i = 0; i < line.size; i++) {
        if (!strchr(" \t\r", line.data[i])) return false;
    }
    return true;
}

static void end_line(struct mcp_session *session) {
    struct bytes line = output_bytes(&session->gathered);
    if (session->is_skipping)
        refuse(session, NULL, MCP_INVALID_REQUEST, "The line is too long; a log may have 16 MiB.");
    else if (!is_blank(line))
        take_line(session, line);
    output_free(&session->gathered);
    begin_line(session);
}

static void put_piece(struct mcp_session *session, struct bytes piece) {
    if (!session->is_skipping) output_append(&session->gathered, piece);
    session->is_skipping = session->is_skipping || session->gathered.failed;
}

static void take_piece(struct mcp_session *session, struct bytes piece) {
    while (piece.size) {
        const uint8_t *end = memchr(piece.data, '\n', piece.size);
        size_t size = end ? (size_t)(end - piece.data) : piece.size;
        put_piece(session, (struct bytes){piece.data, size});
        if (end) end_line(session);
        size_t taken = size + (end != NULL);
        piece = (struct bytes){piece.data + taken, piece.size - taken};
    }
}

// --- The session ---

// False: there is nothing more.
static bool read_on(int in, struct mcp_session *session) {
    uint8_t piece[1 << 14];
    ssize_t size = read(in, piece, sizeof piece);
    if (size > 0) take_piece(session, (struct bytes){piece, (size_t)size});
    return size > 0 || (size < 0 && errno == EINTR);
}

bool mcp_session_run(const struct app *app, int in, int out) {
    enum { PROGRESS_MS = 500 };
    struct mcp_session session;
    struct mcp_calls *calls = &session.calls;
    struct pollfd asked = {.fd = in, .events = POLLIN};
    if (!mcp_calls_init(calls, app, out)) return false;
    begin_line(&session);
    for (bool goes_on = true; goes_on && !mcp_calls_is_broken(calls);) {
        int ready = poll(&asked, 1, mcp_calls_tell_progress(calls) ? PROGRESS_MS : -1);
        if (ready > 0) goes_on = read_on(in, &session);
        if (ready < 0 && errno != EINTR) goes_on = false;
    }
    bool is_good = !mcp_calls_is_broken(calls);
    output_free(&session.gathered);
    mcp_calls_end(calls);
    return is_good;
}
