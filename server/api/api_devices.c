#include "analysis/base/device_kinds.h"
#include "server/api/api.h"
#include "server/text/json_writer.h"

bool api_devices(struct request *request, struct reply *reply, struct error *error) {
    struct output *output = reply_output(request, error);
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    json_open_array_key(&w, "devices");
    for (size_t i = 0; i < device_kind_count; i++) {
        const struct device_kind *kind = &device_kinds[i];
        json_open_object(&w);
        json_write_text_key(&w, "name", kind->name);
        json_write_text_key(&w, "other_name", kind->other_name);
        json_write_text_key(&w, "capacity", kind->capacity);
        json_write_int64_key(&w, "capacity_bytes", device_kind_bytes(kind));
        json_write_text_key(&w, "source", kind->is_of_compiler ? "compiler" : "vendor");
        json_close_object(&w);
    }
    json_close_array(&w);
    json_close_object(&w);
    return reply_written(reply, REPLY_JSON, output, error);
}
