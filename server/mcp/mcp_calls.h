// The calls of a session that are being answered, a thread each; and what goes out, one line at a time.
//
// Thread-safe. A call owns its message and its reading from begin to its end.
#pragma once

#include <pthread.h>

#include "server/mcp/mcp_message.h"
#include "server/mcp/mcp_protocol.h"
#include "server/mcp/mcp_tools.h"

enum { MCP_CALLS_MAX = 16 };

struct mcp_calls;

struct mcp_running {
    struct mcp_calls *calls;
    struct mcp_message message;
    enum mcp_era era;
    const struct mcp_tool *tool;
    struct reading reading;
    bool is_used, is_cancelled;
    uint64_t told;  // of its progress
};

struct mcp_calls {
    const struct app *app;
    int out;
    pthread_mutex_t lock;  // of all below
    pthread_cond_t changed;
    struct mcp_running running[MCP_CALLS_MAX];
    size_t count;
    bool is_broken;  // nobody reads any more, or there is no memory even to say so
};

bool mcp_calls_init(struct mcp_calls *calls, const struct app *app, int out);

// Gives up all calls, and waits for their ends.
void mcp_calls_end(struct mcp_calls *calls);

// Takes the message over. False: there is no room, and the message is still the caller's.
MUST_USE bool mcp_calls_begin(struct mcp_calls *calls, struct mcp_message *message, enum mcp_era era,
                              const struct mcp_tool *tool);

// Whoever asked with this id wants no answer any more.
void mcp_calls_cancel(struct mcp_calls *calls, const json_t *id);

// Tells how far calls are whose client wants to know. False: none does.
bool mcp_calls_tell_progress(struct mcp_calls *calls);

// Sends {"jsonrpc": "2.0", "id": id, `key`: value}; the value is taken over. Where this thread was refused memory since
// it counted `before` (analysis/base/refused_memory.h) it sends an error that says so: the value may lack anything.
void mcp_calls_answer(struct mcp_calls *calls, const json_t *id, const char *key, json_t *value, uint64_t before);

bool mcp_calls_is_broken(struct mcp_calls *calls);
