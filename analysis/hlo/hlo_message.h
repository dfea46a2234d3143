// The messages of an HloProto as its loaders (hlo_load*.c) read them: how many parts they have, and what is wrong with
// them. Private to this room.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"
#include "proto/wire.h"

// Adds to *count how often the length-delimited field `number` occurs in `message`, a part of `blob`.
MUST_USE bool hlo_message_count(struct bytes blob, struct bytes message, uint32_t number, const char *message_name,
                                uint32_t *count, struct error *error);

// Turns a cursor's fault into an error with the offset inside `blob`; returns false.
bool hlo_message_fault(struct error *error, struct bytes blob, const struct wire *w, const char *message_name);

// A module too big for its arena; returns false.
bool hlo_message_too_big(struct error *error, const struct arena *arena);
