#include "server/storage/trusted_certificates.h"

#include <stddef.h>
#include <unistd.h>

#define DEBIAN "/etc/ssl/certs/ca-certificates.crt"  // and Ubuntu, Arch, Alpine with its package ca-certificates
#define FEDORA "/etc/pki/tls/certs/ca-bundle.crt"
#define RED_HAT "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"
#define SUSE "/etc/ssl/ca-bundle.pem"
#define ALPINE "/etc/ssl/cert.pem"

const char trusted_certificates_advice[] = "name the file of the authorities to trust with SSL_CERT_FILE, or a folder "
                                           "with SSL_CERT_DIR; without them the first "
                                           "of " DEBIAN ", " FEDORA ", " RED_HAT ", " SUSE ", " ALPINE
                                           " is used (the package ca-certificates has it)";

static const char *first_set(environment_reader *environment, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *value = environment_get(environment, names[i]);
        if (value) return value;
    }
    return NULL;
}

static const char *file_of_system(void) {
    static const char *const files[] = {DEBIAN, FEDORA, RED_HAT, SUSE, ALPINE};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (access(files[i], R_OK) == 0) return files[i];
    }
    return NULL;
}

struct trusted_certificates trusted_certificates_find(environment_reader *environment) {
    static const char *const names[] = {"AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"};
    struct trusted_certificates found = {.file = first_set(environment, names, sizeof names / sizeof *names)};
    if (!found.file) found.folder = environment_get(environment, "SSL_CERT_DIR");
    if (!found.file && !found.folder) found.file = file_of_system();
    return found;
}
