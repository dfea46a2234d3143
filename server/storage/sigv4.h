// AWS Signature Version 4 for S3 requests without a body.
//
//     method, path, query, headers -> canonical request -> text to sign -> HMAC by a key derived from the secret
//                                                                            -> header Authorization
//
// What is signed is what is sent: the question's path and query are escaped and sorted already (url_text.h), so nothing
// is escaped twice, and names with "(", "=" or "+" are signed as they travel. Rules:
// docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html.
#pragma once

#include "analysis/base/error.h"
#include "server/storage/http_message.h"

struct sigv4_identity {
    const char *access_key, *secret, *session_token;  // the token may be NULL
    const char *region;
};

// Adds Host, X-Amz-Date, X-Amz-Content-Sha256 and Authorization, and the token's header. `now_s`: seconds since 1970.
// False at the arena's limit.
MUST_USE bool sigv4_sign(struct http_question *question, const struct sigv4_identity *identity, int64_t now_s,
                         struct arena *arena);
