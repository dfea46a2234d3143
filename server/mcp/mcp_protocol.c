#include "server/mcp/mcp_protocol.h"

#include <string.h>

#include "server/app.h"

static const char PROTOCOL_VERSION[] = "io.modelcontextprotocol/protocolVersion";
static const char MODERN_VERSION[] = "2026-07-28";

static const char *const handshake_versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
enum { HANDSHAKE_VERSIONS = sizeof handshake_versions / sizeof handshake_versions[0], KEPT_MS = 3600000 };

static const char INSTRUCTIONS[] =
    "Where the memory of an accelerator went, from XLA profiles of JAX, PyTorch/XLA and TensorFlow. From an "
    "out-of-memory "
    "log: explain (with the log's text), then who_holds and advise for the program that it names, change the code, "
    "take "
    "the profile or dump again, and diff to verify. Bytes are exact; read \"caveats\" before quoting a figure.";

enum mcp_era mcp_era_of(const struct mcp_message *message) {
    const json_t *version = mcp_message_meta(message, PROTOCOL_VERSION);
    if (!version || !strcmp(message->method, "initialize")) return MCP_HANDSHAKE;
    const char *name = json_string_value(version);
    return name && strcmp(name, MODERN_VERSION) == 0 ? MCP_MODERN : MCP_UNKNOWN_ERA;
}

static json_t *this_server(void) {
    return json_pack("{s:s, s:s, s:s}", "name", "hbmview", "title", "hbmview: accelerator memory", "version",
                     HBMVIEW_VERSION);
}

static json_t *capabilities(void) {
    return json_pack("{s:{}}", "tools");
}

json_t *mcp_initialize(const struct mcp_message *message) {
    const char *asked = json_string_value(json_object_get(message->params, "protocolVersion"));
    const char *version = handshake_versions[0];
    for (size_t i = 0; asked && i < HANDSHAKE_VERSIONS; i++) {
        if (strcmp(asked, handshake_versions[i]) == 0) version = handshake_versions[i];
    }
    return json_pack("{s:s, s:o, s:o, s:s}", "protocolVersion", version, "capabilities", capabilities(), "serverInfo",
                     this_server(), "instructions", INSTRUCTIONS);
}

static json_t *all_versions(void) {
    json_t *list = json_pack("[s]", MODERN_VERSION);
    for (size_t i = 0; i < HANDSHAKE_VERSIONS; i++) json_array_append_new(list, json_string(handshake_versions[i]));
    return list;
}

json_t *mcp_discover(void) {
    return json_pack("{s:o, s:o, s:s, s:{s:o}}", "supportedVersions", all_versions(), "capabilities", capabilities(),
                     "instructions", INSTRUCTIONS, "_meta", "io.modelcontextprotocol/serverInfo", this_server());
}

void mcp_complete_result(json_t *result, enum mcp_era era, bool may_be_kept) {
    if (era == MCP_HANDSHAKE) return;
    json_object_set_new(result, "resultType", json_string("complete"));
    if (!may_be_kept) return;
    json_object_set_new(result, "ttlMs", json_integer(KEPT_MS));
    json_object_set_new(result, "cacheScope", json_string("public"));
}

json_t *mcp_unsupported(const struct mcp_message *message) {
    const char *asked = json_string_value(mcp_message_meta(message, PROTOCOL_VERSION));
    return json_pack("{s:i, s:s, s:{s:o, s:s}}", "code", MCP_UNSUPPORTED_VERSION, "message",
                     "This revision of the protocol is not spoken here.", "data", "supported", all_versions(),
                     "requested", asked ? asked : "");
}
