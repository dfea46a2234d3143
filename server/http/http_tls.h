// What libmicrohttpd is told of a certificate and its key, and whether it takes them.
//
//     tls_files.h -- http_can_encrypt, http_tls_works --> the start goes on, or ends with a sentence
//                 -- http_tls_options ------------------> http.c: TLS 1.2 and 1.3, on the loops that read and send
#pragma once

#include "server/http/tls_files.h"

struct MHD_OptionItem;

enum { HTTP_TLS_OPTIONS = 4 };

// Whether the library that was linked can encrypt at all: the one of the static program cannot.
bool http_can_encrypt(void);

// Whether it takes these. False: `problem` is one sentence.
bool http_tls_works(const struct tls_files *files, char problem[TLS_PROBLEM_BYTES]);

// Fills HTTP_TLS_OPTIONS items, which borrow from `files`; NULL: none of them does anything.
void http_tls_options(const struct tls_files *files, struct MHD_OptionItem *items);
