// Any bytes as a line from an agent: reading ends, a message has what its kind says, and a call of a tool always has a
// result with a text and a document, whatever its arguments are.
//
//     make fuzz T=server_mcp
#include <stdlib.h>
#include <string.h>

#include "server/app.h"
#include "server/mcp/mcp_protocol.h"
#include "server/mcp/mcp_tools.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARENA_BYTES = 16 << 20 };

static void require(bool holds) {
    if (!holds) abort();
}

// An API that has nothing: what is asked of it is ours, and goes on one line.
static void refuse(struct request *request, struct reply *reply) {
    static const char body[] = "{\"error\": {\"message\": \"There is no such thing.\", \"file\": null}}";
    require(strncmp(request->path, "/api/v1/", 8) == 0 && !strchr(request->path, '\n'));
    reply_short(reply, HTTP_NOT_FOUND, REPLY_JSON, body);
}

static void check_call(const struct mcp_message *message) {
    const struct app app = {.ask_api = refuse};
    const struct mcp_tool *tool = mcp_tool_find(json_string_value(json_object_get(message->params, "name")));
    struct arena arena;
    struct reading reading;
    if (!tool) return;
    arena_init(&arena, ARENA_BYTES);
    reading_init(&reading);
    struct mcp_call call = {.app = &app, .arena = &arena, .reading = &reading};
    json_t *result = mcp_tool_call(tool, json_object_get(message->params, "arguments"), &call);
    const json_t *content = json_object_get(result, "content"),
                 *document = json_object_get(result, "structuredContent");
    require(json_is_true(json_object_get(result, "isError")));
    require(json_is_array(json_object_get(document, "caveats")));
    require(json_is_string(json_object_get(json_object_get(document, "error"), "message")));
    require(json_is_string(json_object_get(json_array_get(content, 0), "text")));
    json_decref(result);
    arena_free(&arena);
}

static void check_kind(const struct mcp_message *message) {
    bool is_call = message->kind == MCP_REQUEST || message->kind == MCP_NOTIFICATION;
    require(!is_call || message->method);
    require(message->kind != MCP_REQUEST || json_is_string(message->id) || json_is_integer(message->id));
    require(!message->params || json_is_object(message->params));
    require((message->kind == MCP_BAD) == (message->problem != NULL));
    require(message->kind != MCP_BAD || message->code < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct mcp_message message;
    mcp_message_read((struct bytes){data, size}, &message);
    check_kind(&message);
    if (message.kind == MCP_REQUEST) {
        json_t *hello = mcp_initialize(&message), *unsupported = mcp_unsupported(&message);
        require(hello && unsupported && mcp_era_of(&message) <= MCP_UNKNOWN_ERA);
        json_decref(hello);
        json_decref(unsupported);
        check_call(&message);
    }
    mcp_message_free(&message);
    return 0;
}
