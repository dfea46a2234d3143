#include "server/http/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/base/device_kinds.h"

// Whether `takes` ("session! host") has the name.
static bool is_declared(const char *takes, const char *name) {
    size_t size = strlen(name);
    for (const char *at = takes; *at; at += strspn(at, "! ")) {
        size_t word_size = strcspn(at, "! ");
        if (word_size == size && memcmp(at, name, size) == 0) return true;
        at += word_size;
    }
    return false;
}

const char *request_query(const struct request *request, const char *name) {
    if (request->takes && !is_declared(request->takes, name)) return NULL;
    for (size_t i = 0; i < request->query_count; i++) {
        if (strcmp(request->query[i].name, name) == 0) return request->query[i].value;
    }
    return NULL;
}

const char *request_given(const struct request *request, const char *name) {
    const char *value = request_query(request, name);
    return value && *value ? value : NULL;
}

bool request_need(const struct request *request, const char *name, const char **value, struct error *error) {
    *value = request_given(request, name);
    if (*value) return true;
    return error_set(error, ERROR_BAD_REQUEST, "The request needs the query argument \"%s\".", name);
}

bool request_int64(const struct request *request, const char *name, int64_t otherwise, int64_t *value,
                   struct error *error) {
    const char *text = request_given(request, name);
    *value = otherwise;
    if (!text) return true;
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || *end || *text == ' ')
        return error_set(error, ERROR_BAD_REQUEST, "The query argument \"%s\" must be a whole number, not \"%.60s\".",
                         name, text);
    *value = number;
    return true;
}

bool request_capacity(const struct request *request, int64_t otherwise, int64_t *bytes, struct error *error) {
    const char *text = request_given(request, "capacity");
    *bytes = otherwise;
    if (!text || device_capacity_read(text, bytes)) return true;
    return error_set(
        error, ERROR_BAD_REQUEST,
        "capacity is a size like 15.75G, 16GiB or 17179869184, or a device like v5e or H100, not \"%.60s\".", text);
}

// One item of Accept-Encoding: "gzip;q=0.5".
struct coding {
    const char *name;
    size_t name_size;
    bool is_wanted;  // its q is not 0
};

static struct coding read_coding(const char *item, size_t size) {
    struct coding coding = {item, strcspn(item, ";, \t"), true};
    for (const char *at = item; (at = memchr(at, ';', size - (size_t)(at - item)));) {
        at++;
        at += strspn(at, " \t");
        if ((at[0] == 'q' || at[0] == 'Q') && at[1] == '=') coding.is_wanted = strtod(at + 2, NULL) > 0;
    }
    return coding;
}

// What is said of gzip itself counts, else what is said of any coding ("*").
bool request_accepts_gzip(const struct request *request) {
    const char *at = request->headers.accept_encoding;
    bool takes_any = false;
    while (at && *at) {
        at += strspn(at, " \t,");
        size_t size = strcspn(at, ",");
        struct coding coding = read_coding(at, size);
        if (coding.name_size == 4 && strncasecmp(coding.name, "gzip", 4) == 0) return coding.is_wanted;
        takes_any |= coding.name_size == 1 && *coding.name == '*' && coding.is_wanted;
        at += size;
    }
    return takes_any;
}
