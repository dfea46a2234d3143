#include "server/store/scoped_vmem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/text/json_scan.h"

enum { VMEM = 1 };

#define CONFIGS_KEY "used_scoped_memory_configs"

// Nearly every instruction has the key with an empty list, so that is looked for before anything else.
static bool may_reserve(struct bytes config) {
    size_t found = bytes_find(config, BYTES(CONFIGS_KEY)), after = found + sizeof CONFIGS_KEY - 1;
    if (found == config.size) return false;
    return !bytes_starts_with((struct bytes){config.data + after, config.size - after}, BYTES("\":[]"));
}

// As a number, or as a text that holds one.
static int64_t number_of(struct bytes value) {
    struct bytes digits = json_unquoted(value);
    char text[32] = "", *end;
    if (!digits.size || digits.size >= sizeof text) return 0;
    memcpy(text, digits.data, digits.size);
    errno = 0;
    long long number = strtoll(text, &end, 10);
    return errno || end == text || (size_t)(end - text) != digits.size ? 0 : number;
}

static int64_t largest_reservation(struct bytes config) {
    int64_t largest = 0;
    struct json_entries entries = {.rest = json_member(config, BYTES(CONFIGS_KEY))};
    for (struct bytes entry; json_next_entry(&entries, &entry);) {
        if (number_of(json_member(entry, BYTES("memory_space"))) != VMEM) continue;
        int64_t size = number_of(json_member(entry, BYTES("size")));
        if (size > largest) largest = size;
    }
    return largest;
}

struct scoped_vmem scoped_vmem_find(const struct hlo_module *module, int64_t space) {
    struct scoped_vmem result = {0};
    for (uint32_t i = 0; space == VMEM && i < module->instruction_count; i++) {
        struct bytes config = hlo_instruction_backend_config(module, i);
        if (!may_reserve(config)) continue;
        int64_t bytes = largest_reservation(config);
        if (bytes > result.bytes) result = (struct scoped_vmem){bytes, hlo_instruction_read(module, i).name};
    }
    return result;
}
