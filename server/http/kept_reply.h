// Replies that cost something to make are kept in the cache, encoded: as they are, and gzipped once a client asks.
//
//     key            ──> body, entity tag            made by the writer
//     key + " gzip"  ──> the same body gzipped       made from the first
//
// So a warm reply is one look-up. The key must name everything the body depends on: the versions of the files, the
// endpoint, the arguments (module_request_key and profile_request_key make such keys).
#pragma once

#include "server/http/reply.h"
#include "server/text/json_writer.h"

// Writes the body, JSON mostly; what is not goes to the writer's output. The work is for what it needs meanwhile
// (pinned modules); it ends when the body is written.
typedef bool kept_reply_write(struct work *work, void *context, struct json_writer *w, struct error *error);

// The reply of `key`, written by `write` when it is not kept.
MUST_USE bool kept_reply(struct request *request, const char *key, const char *content_type, kept_reply_write *write,
                         void *context, struct reply *reply, struct error *error);

// The same for what is little and written in no time: it waits for nobody's load.
MUST_USE bool kept_reply_little(struct request *request, const char *key, const char *content_type,
                                kept_reply_write *write, void *context, struct reply *reply, struct error *error);

// The reply that had this `kept_key`. False: it is not kept any more.
MUST_USE bool kept_reply_again(struct request *request, const char *kept_key, const char *content_type, bool is_gzip,
                               struct reply *reply);
