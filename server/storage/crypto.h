// What signing requests needs of cryptography. No state. The library behind it is the TLS library that libcurl uses:
// would be larger than the program (the Makefile's CRYPTO chooses).
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"

enum { CRYPTO_SHA256_BYTES = 32 };

// Makes the library ready; before anything else here, and before libcurl is. False: no memory. To use the library after
// that would end the process.
MUST_USE bool crypto_begin(void);

struct crypto_hash {
    uint8_t data[CRYPTO_SHA256_BYTES];
};

// A hash that there was no memory for is nothing's; it counts as refused (analysis/base/refused_memory).
struct crypto_hash crypto_sha256(struct bytes text);
// The first 64 bits of it.
uint64_t crypto_fingerprint(struct bytes text);

struct crypto_hash crypto_hmac_sha256(struct bytes key, struct bytes text);

// 64 lower-case hexadecimal digits; NULL at the arena's limit.
const char *crypto_hex(const struct crypto_hash *hash, struct arena *arena);

// The RS256 signature of `text` (RSASSA-PKCS1-v1_5 with SHA-256) by a private key in PEM. ERROR_MALFORMED: it is no
// such key. ERROR_NO_MEMORY: the system had none for it. The key never stands in an error.
MUST_USE bool crypto_sign_rs256(struct bytes pem, struct bytes text, struct arena *arena, struct bytes *signature,
                                struct error *error);
