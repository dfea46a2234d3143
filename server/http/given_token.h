// The token that the user gives to all replicas of a server: the first line of a file, or HBMVIEW_TOKEN.
#pragma once

#include <stdbool.h>

#include "server/http/access.h"

enum { GIVEN_TOKEN_PROBLEM_BYTES = 256 };

// `path` NULL: HBMVIEW_TOKEN. token[0] is '\0' when none is given. False: `problem` is one sentence, without the token.
bool given_token_read(const char *path, char token[ACCESS_TOKEN_BYTES], char problem[GIVEN_TOKEN_PROBLEM_BYTES]);
