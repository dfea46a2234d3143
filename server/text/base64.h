// Bytes as base64 (RFC 4648, padded): what HTML can carry.
#pragma once

#include "server/text/output.h"

void base64_write(struct bytes bytes, struct output *output);
