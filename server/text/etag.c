#include "server/text/etag.h"

#include "analysis/base/id_map.h"

static uint64_t rotate(uint64_t x, unsigned bits) {
    return x << bits | x >> (64 - bits);
}

struct lanes {
    uint64_t a, b;
};

static void absorb(struct lanes *lanes, const uint8_t *block) {
    uint64_t words[2];
    memcpy(words, block, sizeof words);
    lanes->a = rotate(lanes->a ^ words[0] * 0x87c37b91114253d5, 31) * 5 + 0x52dce729;
    lanes->b = rotate(lanes->b ^ words[1] * 0x4cf5ad432745937f, 33) * 5 + 0x38495ab5;
    lanes->b += lanes->a;
}

static struct lanes lanes_of(struct bytes body) {
    struct lanes lanes = {0x9e3779b97f4a7c15, body.size};
    size_t at = 0;
    for (; body.size - at >= 16; at += 16) absorb(&lanes, body.data + at);
    uint8_t tail[16] = {0};
    if (body.size > at) memcpy(tail, body.data + at, body.size - at);
    absorb(&lanes, tail);
    lanes.a = id_map_mix(lanes.a + lanes.b);
    lanes.b = id_map_mix(lanes.b + lanes.a);
    return lanes;
}

static char *put_hex(char *to, uint64_t value) {
    for (int shift = 60; shift >= 0; shift -= 4) *to++ = "0123456789abcdef"[value >> shift & 15];
    return to;
}

void etag_of(struct bytes body, char etag[ETAG_BYTES]) {
    struct lanes lanes = lanes_of(body);
    char *to = etag;
    *to++ = '"';
    to = put_hex(to, lanes.a);
    to = put_hex(to, lanes.b);
    *to++ = '"';
    *to = '\0';
}

void etag_for_gzip(const char *etag, char gzip_etag[ETAG_BYTES]) {
    size_t size = strlen(etag);
    if (size < 2 || size + 4 > ETAG_BYTES) {
        gzip_etag[0] = '\0';
        return;
    }
    memmove(gzip_etag, etag, size - 1);
    memcpy(gzip_etag + size - 1, "-gz\"", 5);
}

bool etag_matches(const char *etag, const char *if_none_match) {
    size_t size = strlen(etag);
    if (!if_none_match || size < 2) return false;
    if (strcmp(if_none_match, "*") == 0) return true;
    char tag[ETAG_BYTES];
    memcpy(tag, etag, size + 1);
    char *suffix = strstr(tag, "-gz\"");
    if (!suffix) suffix = tag + size - 1;
    *suffix = '\0';  // the opening quote and the digits: the same for both encodings
    return strstr(if_none_match, tag) != NULL;
}
