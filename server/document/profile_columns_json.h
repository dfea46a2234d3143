// What the documents of the Memory Profile have in common.
#pragma once

#include "server/http/profile_request.h"
#include "server/text/json_writer.h"

// "session", "host", "memory_id": which memory a reply is about.
void profile_found_write(const struct session *session, const struct profile_found *found, struct json_writer *w);

// Fragmentation as it is told, null for what is no number.
void fragmentation_write_key(struct json_writer *w, const char *key, double fragmentation);

// To six decimals, as fine as a chart can show: a third of the cost of writing every digit.
void fragmentation_write_short(struct json_writer *w, double fragmentation);

// Bytes, or null where there are none to tell.
void bytes_write_if(struct json_writer *w, bool is_known, int64_t bytes);
void bytes_write_key_if(struct json_writer *w, const char *key, bool is_known, int64_t bytes);

// null for LARGEST_FREE_UNKNOWN.
void largest_free_write_key(struct json_writer *w, const char *key, int64_t bytes);
