#include "analysis/base/device_kinds.h"

#include <ctype.h>
#include <string.h>

#include "analysis/base/size_text.h"

const struct device_kind device_kinds[] = {
    {"TPU v2", "7.48GiB", true, NULL},
    {"TPU v3", "15.48GiB", true, NULL},
    {"TPU v4", "30.75GiB", true, NULL},
    {"TPU v5e", "15.75GiB", true, "TPU v5 lite"},
    {"TPU v5p", "95.73GiB", true, "TPU v5"},
    {"TPU v6e", "31.24GiB", true, "TPU v6 lite"},
    {"TPU v7x", "94.74GiB", true, "TPU7x"},
    {"T4", "16GiB", false, NULL},
    {"L4", "24GiB", false, NULL},
    {"V100 16 GB", "16GiB", false, NULL},
    {"V100 32 GB", "32GiB", false, NULL},
    {"A100 40 GB", "40GiB", false, NULL},
    {"A100 80 GB", "80GiB", false, NULL},
    {"H100", "80GiB", false, "H100 80 GB HBM3"},
    {"H200", "141GiB", false, NULL},
    {"B200", "180GiB", false, NULL},
};
const size_t device_kind_count = sizeof device_kinds / sizeof device_kinds[0];

enum { PLAIN_NAME_BYTES = 32 };

// The letters and digits that tell names apart. False: it is longer than any of them.
static bool make_plain(const char *text, char plain[PLAIN_NAME_BYTES]) {
    static const char *const makers[] = {"nvidia", "tesla", "tpu"};
    size_t size = 0;
    for (; *text; text++) {
        if (strchr(" \t_-", *text)) continue;
        if (size + 1 == PLAIN_NAME_BYTES) return false;
        plain[size++] = (char)tolower((unsigned char)*text);
    }
    plain[size] = '\0';
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++) {
        size_t skip = strlen(makers[i]);
        if (strncmp(plain, makers[i], skip) == 0) memmove(plain, plain + skip, strlen(plain + skip) + 1);
    }
    return true;
}

// The kind whose name, or whose other name, is `wanted`.
static const struct device_kind *kind_called(const char *wanted, bool by_other_name) {
    char plain[PLAIN_NAME_BYTES];
    for (size_t i = 0; i < device_kind_count; i++) {
        const char *name = by_other_name ? device_kinds[i].other_name : device_kinds[i].name;
        if (name && make_plain(name, plain) && strcmp(plain, wanted) == 0) return &device_kinds[i];
    }
    return NULL;
}

static size_t count_begun(const char *wanted, const struct device_kind **begun) {
    char plain[PLAIN_NAME_BYTES];
    size_t count = 0;
    for (size_t i = 0; i < device_kind_count; i++) {
        if (!make_plain(device_kinds[i].name, plain) || strncmp(plain, wanted, strlen(wanted)) != 0) continue;
        *begun = &device_kinds[i];
        count++;
    }
    return count;
}

const struct device_kind *device_kind_named(const char *text) {
    char wanted[PLAIN_NAME_BYTES];
    if (!make_plain(text, wanted) || !wanted[0]) return NULL;
    const struct device_kind *kind = kind_called(wanted, false);
    if (kind) return kind;
    size_t count = count_begun(wanted, &kind);
    if (count == 0) return kind_called(wanted, true);
    return count == 1 ? kind : NULL;
}

const struct device_kind *device_kind_of_profile(const char *type) {
    char wanted[PLAIN_NAME_BYTES];
    if (!make_plain(type, wanted) || !wanted[0]) return NULL;
    const struct device_kind *kind = kind_called(wanted, true);
    return kind ? kind : kind_called(wanted, false);
}

int64_t device_kind_bytes(const struct device_kind *kind) {
    int64_t bytes = 0;
    return size_text_read(kind->capacity, &bytes) ? bytes : 0;
}

double device_kind_usable_part(const struct device_kind *kind) {
    return kind->is_of_compiler ? 1 : DEVICE_GPU_PART;
}

int64_t device_kind_usable_bytes(const struct device_kind *kind) {
    return (int64_t)((double)device_kind_bytes(kind) * device_kind_usable_part(kind));
}

bool device_capacity_read(const char *text, int64_t *bytes) {
    if (size_text_read(text, bytes)) return true;
    const struct device_kind *kind = device_kind_named(text);
    if (kind) *bytes = device_kind_bytes(kind);
    return kind != NULL;
}
