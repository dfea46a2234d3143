#include "server/document/program_fields.h"

#include "analysis/input/xspace_index.h"

const struct field program_id_field[] = {
    {"program_id", FIELD_UINT64, offsetof(struct xspace_program, program_id),
     offsetof(struct xspace_program, has_program_id), false},
    FIELD_END,
};
