#include "server/storage/crypto.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "analysis/base/refused_memory.h"

// --- Memory: to the library's readers of keys, what there was no room for was no key ---

// Much that the library is refused it does without, so none of it is anybody's error yet. But what it lacks since its
// beginning it lacks for good.
static atomic_bool was_refused;
static _Thread_local bool is_refused_now;  // since this thread began to sign

static void *or_refusal(void *block) {
    if (!block) is_refused_now = true;
    if (!block) atomic_store(&was_refused, true);
    return block;
}

static void *allocate(size_t size, const char *file, int line) {
    (void)file, (void)line;
    return size ? or_refusal(malloc(size)) : NULL;
}

static void *allocate_again(void *block, size_t size, const char *file, int line) {
    (void)file, (void)line;
    if (size) return or_refusal(realloc(block, size));
    free(block);
    return NULL;
}

static void release(void *block, const char *file, int line) {
    (void)file, (void)line;
    free(block);
}

// The second time, and wherever something of it has begun already, the library keeps what it has.
static void hear_of_refusals(void) {
    (void)CRYPTO_set_mem_functions(allocate, allocate_again, release);
}

// --- Beginning ---

// Without its context, which is made once, whatever asks for an algorithm reads through NULL.
bool crypto_begin(void) {
    hear_of_refusals();
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
    return OSSL_LIB_CTX_get0_global_default();
#else
    return true;
#endif
}

struct crypto_hash crypto_sha256(struct bytes text) {
    struct crypto_hash hash = {{0}};
    if (EVP_Digest(text.data, text.size, hash.data, NULL, EVP_sha256(), NULL) != 1) (void)memory_or_refusal(NULL);
    return hash;
}

struct crypto_hash crypto_hmac_sha256(struct bytes key, struct bytes text) {
    struct crypto_hash hash = {{0}};
    if (!HMAC(EVP_sha256(), key.data, (int)key.size, text.data, text.size, hash.data, NULL))
        (void)memory_or_refusal(NULL);
    return hash;
}

static EVP_PKEY *read_key(struct bytes pem) {
    BIO *text = pem.size <= INT_MAX ? BIO_new_mem_buf(pem.data, (int)pem.size) : NULL;
    EVP_PKEY *key = text ? PEM_read_bio_PrivateKey(text, NULL, NULL, NULL) : NULL;
    BIO_free(text);
    if (key && EVP_PKEY_base_id(key) == EVP_PKEY_RSA) return key;
    EVP_PKEY_free(key);
    return NULL;
}

static bool sign(EVP_MD_CTX *context, EVP_PKEY *key, struct bytes text, struct arena *arena, struct bytes *signature) {
    size_t size = 0;
    if (EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) != 1) return false;
    if (EVP_DigestSign(context, NULL, &size, text.data, text.size) != 1) return false;
    uint8_t *data = arena_push(arena, size, 1);
    if (!data || EVP_DigestSign(context, data, &size, text.data, text.size) != 1) return false;
    *signature = (struct bytes){data, size};
    return true;
}

static bool sign_by(struct bytes pem, struct bytes text, struct arena *arena, struct bytes *signature) {
    EVP_PKEY *key = read_key(pem);
    EVP_MD_CTX *context = key ? EVP_MD_CTX_new() : NULL;
    bool is_signed = context && sign(context, key, text, arena, signature);
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return is_signed;
}

// --- Whether it is the key's fault that it cannot sign ---

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
static bool signs_by(EVP_PKEY *key, BIO *text, struct arena *arena) {
    char *pem = NULL;
    struct bytes signature;
    if (!key || !text || PEM_write_bio_PrivateKey(text, key, NULL, NULL, 0, NULL, NULL) != 1) return false;
    size_t size = (size_t)BIO_get_mem_data(text, &pem);
    return sign_by((struct bytes){(const uint8_t *)pem, size}, bytes_of("text"), arena, &signature);
}

// It lacks nothing: it signs by a key of its own making.
static bool library_is_whole(struct arena *arena) {
    enum { KEY_BITS = 1024 };
    EVP_PKEY *key = EVP_RSA_gen(KEY_BITS);
    BIO *text = BIO_new(BIO_s_mem());
    bool is_whole = signs_by(key, text, arena);
    BIO_free(text);
    EVP_PKEY_free(key);
    return is_whole;
}
#else
static bool library_is_whole(struct arena *arena) {
    (void)arena;
    return false;
}
#endif

static bool no_key(struct arena *arena, uint64_t before, struct error *error) {
    if (is_refused_now || (atomic_load(&was_refused) && !library_is_whole(arena))) (void)memory_or_refusal(NULL);
    ERR_clear_error();
    if (memory_was_refused(before, error)) return false;
    return error_set(error, ERROR_MALFORMED, "the private key is no RSA key in PEM (\"-----BEGIN PRIVATE KEY-----\")");
}

bool crypto_sign_rs256(struct bytes pem, struct bytes text, struct arena *arena, struct bytes *signature,
                       struct error *error) {
    uint64_t before = memory_refusals();
    is_refused_now = false;
    return sign_by(pem, text, arena, signature) || no_key(arena, before, error);
}
