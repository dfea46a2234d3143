#include "server/document/profile_values.h"

#include <math.h>

#include "analysis/profile/events/data_type_name.h"

double fragmentation_shortened(double fragmentation) {
    return round(fragmentation * 1e6) / 1e6;
}

const char *data_type_text(int64_t data_type, struct arena *arena) {
    char buffer[DATA_TYPE_NAME_BYTES];
    const char *name = data_type_name(data_type, buffer);
    const char *kept = name == buffer ? arena_string(arena, bytes_of(name)) : name;
    return kept ? kept : "";
}
