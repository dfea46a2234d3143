#include "server/http/http_tls.h"

#include <microhttpd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_BYTES = 256 };

static const char VERSIONS[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

static struct MHD_OptionItem option(enum MHD_OPTION name, const char *text) {
    union {
        const char *in;
        void *out;
    } pointer = {text};  // the library only reads it
    return (struct MHD_OptionItem){name, 0, pointer.out};
}

void http_tls_options(const struct tls_files *files, struct MHD_OptionItem *items) {
    if (files) {
        *items++ = option(MHD_OPTION_HTTPS_MEM_CERT, files->certificate);
        *items++ = option(MHD_OPTION_HTTPS_MEM_KEY, files->key);
        *items++ = option(MHD_OPTION_HTTPS_PRIORITIES, VERSIONS);
    }
    *items = option(MHD_OPTION_END, NULL);
}

bool http_can_encrypt(void) {
    return MHD_is_feature_supported(MHD_FEATURE_TLS) == MHD_YES;
}

// The library's words, of which the first say most.
__attribute__((format(printf, 2, 0))) static void keep_words(void *to, const char *format, va_list values) {
    char *words = to;
    if (words[0]) return;
    vsnprintf(words, WORDS_BYTES, format, values);
    words[strcspn(words, "\r\n")] = '\0';
}

static enum MHD_Result answer_nobody(void *context, struct MHD_Connection *handle, const char *path, const char *method,
                                     const char *version, const char *upload, size_t *upload_size, void **state) {
    (void)context, (void)handle, (void)path, (void)method, (void)version, (void)upload, (void)upload_size, (void)state;
    return MHD_NO;
}

bool http_tls_works(const struct tls_files *files, char problem[TLS_PROBLEM_BYTES]) {
    struct MHD_OptionItem items[HTTP_TLS_OPTIONS];
    char words[WORDS_BYTES] = "";
    http_tls_options(files, items);
    struct MHD_Daemon *trial = MHD_start_daemon(MHD_USE_TLS | MHD_USE_ERROR_LOG | MHD_USE_NO_LISTEN_SOCKET, 0, NULL,
                                                NULL, answer_nobody, NULL, MHD_OPTION_EXTERNAL_LOGGER, keep_words,
                                                words, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
    if (trial) MHD_stop_daemon(trial);
    if (!trial)
        snprintf(problem, TLS_PROBLEM_BYTES,
                 "--tls_cert=%.140s, --tls_key=%.140s: %.120s Give a certificate and its own key.",
                 files->certificate_path, files->key_path, words);
    return trial;
}
