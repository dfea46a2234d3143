// gzip for reply bodies and page assets: the only user of zlib in the server.
#pragma once

#include "server/text/output.h"

// Bodies smaller than this are sent as they are: gzip would hardly shrink them.
enum { GZIP_WORTHWHILE_BYTES = 860 };

// Appends the gzipped form of `body`. Fast rather than small. False: no memory, or the output's limit.
bool gzip_compress(struct bytes body, struct output *output);

// Appends the inflated form, which must be exactly `size` bytes.
bool gzip_inflate(struct bytes gzip, size_t size, struct output *output);
