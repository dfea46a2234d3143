#include "server/http/given_token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(const char *from, const char *why, char *problem) {
    snprintf(problem, GIVEN_TOKEN_PROBLEM_BYTES, "%.100s: %s", from, why);
    return false;
}

static bool take(const char *text, const char *from, char token[ACCESS_TOKEN_BYTES], char *problem) {
    snprintf(token, ACCESS_TOKEN_BYTES, "%.*s", (int)strcspn(text, "\r\n"), text);
    if (access_token_is_plain(token) && strlen(token) == strcspn(text, "\r\n")) return true;
    return refuse(from, "a token has 16 to 128 letters, digits or -._~ (openssl rand -hex 16 makes one).", problem);
}

bool given_token_read(const char *path, char token[ACCESS_TOKEN_BYTES], char problem[GIVEN_TOKEN_PROBLEM_BYTES]) {
    const char *from_environment = getenv("HBMVIEW_TOKEN");
    char line[ACCESS_TOKEN_BYTES + 2] = "";
    token[0] = '\0';
    if (!path) {
        bool is_given = from_environment && from_environment[0];
        return !is_given || take(from_environment, "HBMVIEW_TOKEN", token, problem);
    }
    FILE *file = fopen(path, "re");
    if (!file) return refuse(path, strerror(errno), problem);
    bool has_line = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    return take(has_line ? line : "", path, token, problem);
}
