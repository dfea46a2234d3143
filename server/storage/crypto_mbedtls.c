#include "server/storage/crypto.h"

#include <mbedtls/asn1.h>
#include <mbedtls/bignum.h>
#include <mbedtls/ctr_drbg.h>
#include <mbedtls/entropy.h>
#include <mbedtls/md.h>
#include <mbedtls/pem.h>
#include <mbedtls/pk.h>
#include <mbedtls/platform_util.h>
#include <mbedtls/sha256.h>
#include <string.h>

#include "analysis/base/refused_memory.h"

bool crypto_begin(void) {
    return true;
}

struct crypto_hash crypto_sha256(struct bytes text) {
    struct crypto_hash hash = {{0}};
    if (mbedtls_sha256(text.data, text.size, hash.data, 0) != 0) (void)memory_or_refusal(NULL);
    return hash;
}

struct crypto_hash crypto_hmac_sha256(struct bytes key, struct bytes text) {
    struct crypto_hash hash = {{0}};
    const mbedtls_md_info_t *sha256 = mbedtls_md_info_from_type(MBEDTLS_MD_SHA256);
    if (mbedtls_md_hmac(sha256, key.data, key.size, text.data, text.size, hash.data) != 0)
        (void)memory_or_refusal(NULL);
    return hash;
}

// --- Memory: the library says in the number of an error what it had none for ---

// The last seven bits are of the part that failed, the others of whatever called it.
static bool wants_memory(int status) {
    unsigned code = status < 0 ? (unsigned)-status : 0, part = code & 0x7F, caller = code & ~0x7FU;
    return part == -MBEDTLS_ERR_MPI_ALLOC_FAILED || part == -MBEDTLS_ERR_ASN1_ALLOC_FAILED ||
           caller == -MBEDTLS_ERR_PK_ALLOC_FAILED || caller == -MBEDTLS_ERR_PEM_ALLOC_FAILED ||
           caller == -MBEDTLS_ERR_MD_ALLOC_FAILED;
}

static bool is_good(int status) {
    if (wants_memory(status)) (void)memory_or_refusal(NULL);
    return status == 0;
}

// --- Signing ---

// Signing and reading a key want random numbers, to tell nothing by the time they take.
struct signer {
    mbedtls_entropy_context entropy;
    mbedtls_ctr_drbg_context random;
    mbedtls_pk_context key;
};

static void signer_init(struct signer *signer) {
    mbedtls_entropy_init(&signer->entropy);
    mbedtls_ctr_drbg_init(&signer->random);
    mbedtls_pk_init(&signer->key);
}

static void signer_free(struct signer *signer) {
    mbedtls_pk_free(&signer->key);
    mbedtls_ctr_drbg_free(&signer->random);
    mbedtls_entropy_free(&signer->entropy);
}

// The system has random numbers always: what fails here is the room to mix them.
static bool seed(struct signer *signer) {
    int status = mbedtls_ctr_drbg_seed(&signer->random, mbedtls_entropy_func, &signer->entropy, NULL, 0);
    if (status != 0) (void)memory_or_refusal(NULL);
    return status == 0;
}

// mbedTLS takes PEM with the NUL that ends it.
static bool read_key(struct signer *signer, struct bytes pem, struct arena *arena) {
    uint8_t *text = pem.size < SIZE_MAX ? arena_push(arena, pem.size + 1, 1) : NULL;
    if (!text) return false;
    if (pem.size) memcpy(text, pem.data, pem.size);
    text[pem.size] = 0;
    int status = mbedtls_pk_parse_key(&signer->key, text, pem.size + 1, NULL, 0, mbedtls_ctr_drbg_random,
                                      &signer->random);
    mbedtls_platform_zeroize(text, pem.size + 1);
    return is_good(status) && mbedtls_pk_get_type(&signer->key) == MBEDTLS_PK_RSA;
}

static bool sign(struct signer *signer, struct bytes pem, struct bytes text, struct arena *arena,
                 struct bytes *signature) {
    if (!seed(signer) || !read_key(signer, pem, arena)) return false;
    struct crypto_hash hash = crypto_sha256(text);
    size_t room = mbedtls_pk_get_len(&signer->key), size = 0;
    uint8_t *data = arena_push(arena, room, 1);
    if (!data || !is_good(mbedtls_pk_sign(&signer->key, MBEDTLS_MD_SHA256, hash.data, sizeof hash.data, data, room,
                                          &size, mbedtls_ctr_drbg_random, &signer->random)))
        return false;
    *signature = (struct bytes){data, size};
    return true;
}

bool crypto_sign_rs256(struct bytes pem, struct bytes text, struct arena *arena, struct bytes *signature,
                       struct error *error) {
    struct signer signer;
    uint64_t before = memory_refusals();
    signer_init(&signer);
    bool is_signed = sign(&signer, pem, text, arena, signature);
    signer_free(&signer);
    if (is_signed || memory_was_refused(before, error)) return is_signed;
    return error_set(error, ERROR_MALFORMED, "the private key is no RSA key in PEM (\"-----BEGIN PRIVATE KEY-----\")");
}
