// Which files of this machine opening a bucket reads, while the program runs: who it is, whom it trusts, where names
// are found. For the sandbox, which must know them before.
//
//     AWS_*_FILE, ~/.aws, GOOGLE_APPLICATION_CREDENTIALS, ~/.config/gcloud   credentials, which others renew
//     AWS_CA_BUNDLE, ..., /etc/ssl, /etc/pki                                 certificates
//     /etc, /lib, /usr/lib, /run/systemd/resolve                             the C library's name services
//
// Folders, even where a file is named: what is renewed is often another file of the same name.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"
#include "server/storage/environment.h"

// Adds paths, borrowed or on the arena, to a growing array. False: no memory.
MUST_USE bool storage_files_list(environment_reader *environment, struct arena *arena, const char ***paths,
                                 size_t *count);
