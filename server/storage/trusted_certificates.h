// Which certificates this machine trusts: searched when the program runs, for it may have been built on another.
//
//     AWS_CA_BUNDLE, CURL_CA_BUNDLE, SSL_CERT_FILE   the user's file: used as it is, found or not
//     SSL_CERT_DIR                                   the user's folder, likewise
//     otherwise                                      the first of the files where distributions keep theirs
//
// Reads none of them, that is libcurl's work. The texts are borrowed from the environment, or constant.
#pragma once

#include "server/storage/environment.h"

struct trusted_certificates {
    const char *file, *folder;  // at most one; both NULL: there are none
};

struct trusted_certificates trusted_certificates_find(environment_reader *environment);

// What to do where they are missing, or not those that a server needs: a clause for the end of a sentence.
extern const char trusted_certificates_advice[];
