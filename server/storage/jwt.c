#include "server/storage/jwt.h"

#include <inttypes.h>

#include "server/storage/crypto.h"

// base64url without padding (RFC 7515).
static const char *encode(struct bytes bytes, struct arena *arena) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    char *text = arena_push(arena, bytes.size + 3, 2);
    size_t size = 0;
    for (size_t i = 0; text && i < bytes.size; i += 3) {
        size_t left = bytes.size - i;
        uint32_t group = (uint32_t)bytes.data[i] << 16 | (left > 1 ? (uint32_t)bytes.data[i + 1] << 8 : 0) |
                         (left > 2 ? bytes.data[i + 2] : 0);
        size_t count = left > 2 ? 4 : left + 1;
        for (size_t digit = 0; digit < count; digit++) text[size++] = digits[group >> (18 - 6 * digit) & 63];
    }
    return text;
}

// Claims are texts of a credentials file; one with a quote or a control character is no account's.
static bool is_plain(const char *text) {
    for (; *text; text++) {
        if (*text == '"' || *text == '\\' || (uint8_t)*text < ' ') return false;
    }
    return true;
}

static const char *unsigned_part(const struct jwt_claims *claims, struct arena *arena) {
    const char *text = arena_printf(
        arena, "{\"iss\":\"%s\",\"scope\":\"%s\",\"aud\":\"%s\",\"iat\":%" PRId64 ",\"exp\":%" PRId64 "}",
        claims->issuer, claims->scope, claims->audience, claims->now_s, claims->until_s);
    const char *header = encode(BYTES("{\"alg\":\"RS256\",\"typ\":\"JWT\"}"), arena);
    const char *body = text ? encode(bytes_of(text), arena) : NULL;
    return header && body ? arena_printf(arena, "%s.%s", header, body) : NULL;
}

bool jwt_make(const struct jwt_claims *claims, const char *private_key_pem, struct arena *arena, const char **token,
              struct error *error) {
    if (!is_plain(claims->issuer) || !is_plain(claims->audience))
        return error_set(error, ERROR_MALFORMED, "the service account's client_email or token_uri is none");
    const char *text = unsigned_part(claims, arena);
    struct bytes signature;
    if (text && !crypto_sign_rs256(bytes_of(private_key_pem), bytes_of(text), arena, &signature, error)) return false;
    const char *encoded = text ? encode(signature, arena) : NULL;
    *token = encoded ? arena_printf(arena, "%s.%s", text, encoded) : NULL;
    return *token || error_set(error, ERROR_TOO_BIG, "no memory left for the credentials");
}
