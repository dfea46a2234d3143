// One line of the Model Context Protocol: a JSON-RPC 2.0 message, looked at as closely as its form goes.
//
//     {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {...}}    a request: it gets an answer
//     {"jsonrpc": "2.0", "method": "notifications/cancelled", ...}            a notification: none
//     {"jsonrpc": "2.0", "id": 7, "result": {...}}                            an answer to us, who ask nothing: none
//     anything else                                                           an error, under its id where it has one
//
// Any bytes may come; whoever sends them may be an enemy. What a method means is not known here.
#pragma once

#include <jansson.h>

#include "proto/bytes.h"

enum { MCP_LINE_BYTES_MAX = 34 << 20 };  // a log of 16 MiB, with every second byte escaped

enum mcp_message_kind { MCP_BAD, MCP_REQUEST, MCP_NOTIFICATION, MCP_ANSWER };

// Of JSON-RPC and MCP.
enum mcp_error_code {
    MCP_UNSUPPORTED_VERSION = -32022,
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_METHOD_NOT_FOUND = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL_ERROR = -32603,
    MCP_BUSY = -32000,
};

struct mcp_message {
    enum mcp_message_kind kind;
    json_t *root;              // owns what follows; NULL where the line is no JSON
    const json_t *id;          // a text or whole number of a request; else NULL
    const char *method;        // of requests and notifications
    const json_t *params;      // an object; NULL: there are none
    enum mcp_error_code code;  // of a bad one, as the sentence
    const char *problem;
};

void mcp_message_read(struct bytes line, struct mcp_message *message);
void mcp_message_free(struct mcp_message *message);

// params._meta[key]; NULL: there is none.
const json_t *mcp_message_meta(const struct mcp_message *message, const char *key);
