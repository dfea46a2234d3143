// What the methods of the protocol answer that need no profile: who we are, and which revisions we speak.
//
//     2024-11-05 to 2025-11-25    initialize, then requests
//     2026-07-28                  server/discover, or nothing at all: each request says its revision in _meta
//
// A connection holds no state that either needs, so both kinds of requests are answered on any of them.
#pragma once

#include "analysis/base/error.h"
#include "server/mcp/mcp_message.h"

// How results are to look.
enum mcp_era { MCP_HANDSHAKE, MCP_MODERN, MCP_UNKNOWN_ERA };

// What the request says of itself: MCP_UNKNOWN_ERA names a revision that we do not speak.
enum mcp_era mcp_era_of(const struct mcp_message *message);

// Results, for json_decref.
MUST_USE json_t *mcp_initialize(const struct mcp_message *message);
MUST_USE json_t *mcp_discover(void);

// What a result of the era has besides: of one that may be kept for a while (a list) how long.
void mcp_complete_result(json_t *result, enum mcp_era era, bool may_be_kept);

// The error of a revision that we do not speak, with those that we do; for json_decref.
MUST_USE json_t *mcp_unsupported(const struct mcp_message *message);
