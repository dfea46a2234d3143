#include "server/store/scoped_vmem.h"

#include "server/json_read.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

enum { VMEM = 1 };

#define CONFIGS_KEY "used_scoped_memory_configs"

// Nearly every instruction has the key with an empty list, so that is looked for before anything is parsed.
static bool may_reserve(struct bytes config) {
    size_t found = bytes_find(config, BYTES(CONFIGS_KEY)), after = found + sizeof CONFIGS_KEY - 1;
    if (found == config.size) return false;
    return !bytes_starts_with((struct bytes){config.data + after, config.size - after}, BYTES("\":[]"));
}

static int64_t number_of(const json_t *value) {
    if (json_is_integer(value)) return json_integer_value(value);
    if (!json_is_string(value)) return 0;
    const char *text = json_string_value(value);
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    return errno || end == text || *end ? 0 : number;
}

static int64_t largest_reservation(struct bytes config) {
    int64_t largest = 0;
    json_t *document = json_read(config, 0, NULL);
    json_t *configs = json_object_get(document, CONFIGS_KEY);
    for (size_t i = 0; i < json_array_size(configs); i++) {
        const json_t *entry = json_array_get(configs, i);
        if (number_of(json_object_get(entry, "memory_space")) != VMEM) continue;
        int64_t size = number_of(json_object_get(entry, "size"));
        if (size > largest) largest = size;
    }
    json_decref(document);
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
