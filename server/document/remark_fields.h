// "path" and "reason" of a struct input_remark: a file or folder that is not listed, and why.
#pragma once

#include "server/text/fields.h"

extern const struct field remark_fields[];
