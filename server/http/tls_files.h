// The certificate and the key of --tls_cert and --tls_key, as texts: read once at the start, before the sandbox closes
// the files. Who renews them starts the server again.
//
//     cert.pem  -----BEGIN CERTIFICATE-----   the server's own first, then those that vouch for it
//     key.pem   -----BEGIN PRIVATE KEY-----   of that certificate; not encrypted: nobody is there to give a passphrase
//
// Looked at here is what can be said in plain words: whether they can be read, and hold what they should. Whether they
// belong together the library says that encrypts (http_tls.h).
#pragma once

#include "analysis/base/arena.h"

enum { TLS_PROBLEM_BYTES = 512 };

struct tls_files {
    const char *certificate_path, *key_path;  // borrowed
    const char *certificate, *key;            // PEM
};

// The texts go to `arena`. False: `problem` is one sentence, with nothing of the key.
bool tls_files_read(const char *certificate_path, const char *key_path, struct arena *arena, struct tls_files *files,
                    char problem[TLS_PROBLEM_BYTES]);
