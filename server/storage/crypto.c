#include "server/storage/crypto.h"

#include <string.h>

uint64_t crypto_fingerprint(struct bytes text) {
    struct crypto_hash hash = crypto_sha256(text);
    uint64_t fingerprint;
    memcpy(&fingerprint, hash.data, sizeof fingerprint);
    return fingerprint;
}

const char *crypto_hex(const struct crypto_hash *hash, struct arena *arena) {
    static const char digits[] = "0123456789abcdef";
    char *text = arena_new(arena, char, 2 * CRYPTO_SHA256_BYTES + 1);
    for (size_t i = 0; text && i < CRYPTO_SHA256_BYTES; i++) {
        text[2 * i] = digits[hash->data[i] >> 4];
        text[2 * i + 1] = digits[hash->data[i] & 15];
    }
    return text;
}
