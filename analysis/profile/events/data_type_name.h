// The names of TensorFlow's DataType, for every number: also those that no TensorFlow knows.
//
//     1 "float"     101 "float_ref"     31 "unknown dtype enum (31)"     131 "unknown dtype enum (31)_ref"
#pragma once

#include "analysis/base/arena.h"
#include "analysis/profile/events/allocation_site.h"

enum { DATA_TYPE_NAME_BYTES = 48 };  // room for the longest name, with its NUL

// The name as XProf prints it, in `buffer` or a constant; "" for ALLOCATION_SITE_NO_DATA_TYPE.
const char *data_type_name(int64_t data_type, char buffer[DATA_TYPE_NAME_BYTES]);

// The same, on `arena` where it stands in no table; "" at its limit.
const char *data_type_string(int64_t data_type, struct arena *arena);
