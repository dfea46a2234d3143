// A JSON Web Token by which a service account asks for an access token (RFC 7523), signed by RS256.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"

struct jwt_claims {
    const char *issuer;    // the account
    const char *audience;  // the endpoint that is asked
    const char *scope;
    int64_t now_s, until_s;
};

// "header.claims.signature", on `arena`.
MUST_USE bool jwt_make(const struct jwt_claims *claims, const char *private_key_pem, struct arena *arena,
                       const char **token, struct error *error);
