#include "server/http/tls_files.h"

#include <stdio.h>
#include <string.h>

#include "server/storage/small_file.h"

static bool refuse(const char *flag, const char *path, const char *why, char *problem) {
    snprintf(problem, TLS_PROBLEM_BYTES, "--%s=%.180s: %.280s", flag, path, why);
    return false;
}

// NULL: `problem` says why.
static const char *read_text(const char *flag, const char *path, struct arena *arena, char *problem) {
    struct bytes content;
    struct error error;
    if (!small_file_read(path, arena, &content, &error)) {
        refuse(flag, path, error.message, problem);
        return NULL;
    }
    const char *text = arena_string(arena, content);
    if (!text) refuse(flag, path, "there is no memory for it.", problem);
    return text;
}

static bool has_certificate(const char *path, const char *text, char *problem) {
    if (strstr(text, "-----BEGIN CERTIFICATE-----")) return true;
    return refuse("tls_cert", path,
                  "there is no certificate in it (\"-----BEGIN CERTIFICATE-----\" is expected); one of another form "
                  "becomes such by openssl x509 -inform DER.",
                  problem);
}

static bool has_key(const char *path, const char *text, char *problem) {
    if (strstr(text, "-----BEGIN ENCRYPTED PRIVATE KEY-----") || strstr(text, "Proc-Type: 4,ENCRYPTED"))
        return refuse("tls_key", path,
                      "the key is encrypted, and a server has nobody to ask for the passphrase; openssl pkey -in FILE "
                      "-out PLAIN writes it without one, for your user alone to read.",
                      problem);
    if (strstr(text, "PRIVATE KEY-----")) return true;
    return refuse("tls_key", path,
                  "there is no private key in it (\"-----BEGIN PRIVATE KEY-----\" is expected); one of another form "
                  "becomes such by openssl pkey -inform DER.",
                  problem);
}

bool tls_files_read(const char *certificate_path, const char *key_path, struct arena *arena, struct tls_files *files,
                    char problem[TLS_PROBLEM_BYTES]) {
    *files = (struct tls_files){.certificate_path = certificate_path, .key_path = key_path};
    files->certificate = read_text("tls_cert", certificate_path, arena, problem);
    files->key = files->certificate ? read_text("tls_key", key_path, arena, problem) : NULL;
    return files->key && has_certificate(certificate_path, files->certificate, problem) &&
           has_key(key_path, files->key, problem);
}
