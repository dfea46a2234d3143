#include "server/text/program_id_json.h"

void program_id_write(const struct xspace_program *program, struct json_writer *w) {
    json_key(w, "program_id");
    if (program->has_program_id) {
        json_write_uint64(w, (uint64_t)program->program_id);
    } else {
        json_write_null(w);
    }
}
