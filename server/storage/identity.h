// Who asks: credentials as users have them, fetched when they are needed and again before they end.
//
//     environment, files                 lasting keys          AWS_ACCESS_KEY_ID, ~/.aws/credentials
//     metadata server, token endpoint    keys until a moment   instances, containers, gcloud's refresh token
//     nothing of these                   nobody                buckets that are open to all
//
// Shared by threads: one fetches, the others wait for it. Secrets stand in no error and no log; `who` is what may be
// told. Where each kind looks, in which order: identity_s3.h, identity_gcs.h.
#pragma once

#include "analysis/base/error.h"
#include "server/storage/http_client.h"

struct identity_keys {
    const char *access_key, *secret, *session_token;  // S3; the token may be NULL
    const char *bearer;                               // GCS
    const char *who;                                  // "the access key AKIA..., of AWS_ACCESS_KEY_ID"
};

struct identity;

// Asks for the keys once more, on `arena`. *until_s: when they end, in seconds since 1970; 0: never.
typedef bool identity_fetch(struct identity *identity, struct arena *arena, struct identity_keys *keys,
                            int64_t *until_s, struct error *error);

// NULL: no memory. `state` is the fetcher's, freed with the identity by free(); also when this fails.
struct identity *identity_new(struct http_client *client, identity_fetch *fetch, void *state);
void identity_free(struct identity *identity);  // NULL is fine

struct http_client *identity_client(const struct identity *identity);
const void *identity_state(const struct identity *identity);

// A server refused the keys: whoever needs them next asks for new ones. When that brought the same ones it is not tried
// again for a minute: they may well be good, and not for all that is asked for.
void identity_doubt(struct identity *identity);  // NULL is fine

// The keys that hold now, copied to the arena. Nobody has none, but a `who`.
MUST_USE bool identity_keys(struct identity *identity, struct arena *arena, struct identity_keys *keys,
                            struct error *error);
