#include "server/mcp/mcp_message.h"

#include "server/json_read.h"

#include <stdbool.h>
#include <string.h>

static void refuse(struct mcp_message *message, enum mcp_error_code code, const char *problem) {
    message->kind = MCP_BAD;
    message->code = code;
    message->problem = problem;
}

static bool is_id(const json_t *id) {
    return json_is_string(id) || json_is_integer(id);
}

static void read_call(struct mcp_message *message) {
    const json_t *id = json_object_get(message->root, "id"), *params = json_object_get(message->root, "params");
    message->kind = id ? MCP_REQUEST : MCP_NOTIFICATION;
    message->params = params;
    if (id && !is_id(id)) refuse(message, MCP_INVALID_REQUEST, "\"id\" must be a text or a whole number.");
    if (params && !json_is_object(params)) refuse(message, MCP_INVALID_PARAMS, "\"params\" must be an object.");
    if (message->kind == MCP_BAD) message->params = NULL;
}

static void read_object(struct mcp_message *message) {
    const json_t *id = json_object_get(message->root, "id");
    const char *version = json_string_value(json_object_get(message->root, "jsonrpc"));
    message->id = is_id(id) ? id : NULL;
    message->method = json_string_value(json_object_get(message->root, "method"));
    if (!version || strcmp(version, "2.0") != 0)
        refuse(message, MCP_INVALID_REQUEST, "\"jsonrpc\" must be \"2.0\".");
    else if (message->method)
        read_call(message);
    else if (json_object_get(message->root, "result") || json_object_get(message->root, "error"))
        message->kind = MCP_ANSWER;
    else
        refuse(message, MCP_INVALID_REQUEST, "A message needs a \"method\".");
}

void mcp_message_read(struct bytes line, struct mcp_message *message) {
    *message = (struct mcp_message){.kind = MCP_BAD};
    message->root = json_read(line, JSON_REJECT_DUPLICATES, NULL);
    if (!message->root)
        refuse(message, MCP_PARSE_ERROR, "The line is not one JSON object in UTF-8.");
    else if (!json_is_object(message->root))
        refuse(message, MCP_INVALID_REQUEST, "A message is an object; batches are not taken.");
    else
        read_object(message);
}

void mcp_message_free(struct mcp_message *message) {
    json_decref(message->root);
    *message = (struct mcp_message){.kind = MCP_BAD};
}

const json_t *mcp_message_meta(const struct mcp_message *message, const char *key) {
    return json_object_get(json_object_get(message->params, "_meta"), key);
}
