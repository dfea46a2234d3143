#include "server/document/remark_fields.h"

#include "analysis/input/input_file.h"

const struct field remark_fields[] = {
    FIELD_AS("path", struct input_remark, path, FIELD_TEXT),
    FIELD_AS("reason", struct input_remark, reason, FIELD_TEXT),
    FIELD_END,
};
