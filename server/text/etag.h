// The strong entity tag of a body: 128 bits of its content, as 32 hex digits in quotes.
//
// Not a cryptographic hash: it tells versions of the user's own files apart, and it reads several GB a second, so that
// it costs little next to writing the body.
#pragma once

#include "proto/bytes.h"

enum { ETAG_BYTES = 48 };  // quotes, 32 digits, a suffix for the encoding, NUL

void etag_of(struct bytes body, char etag[ETAG_BYTES]);

// The tag of the gzipped form of the same body.
void etag_for_gzip(const char *etag, char gzip_etag[ETAG_BYTES]);

// Whether an If-None-Match header (may be NULL) names this body, in whichever encoding.
bool etag_matches(const char *etag, const char *if_none_match);
