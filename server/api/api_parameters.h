// What the arguments of /api/v1 mean, by name: an argument means the same wherever a route takes it (api_routes.c says
// which take which). For /api/v1/openapi.json.
#pragma once

#include <stddef.h>

enum parameter_kind { PARAMETER_TEXT, PARAMETER_INT64 };

struct parameter {
    const char *name;
    enum parameter_kind kind;
    const char *description;
};

// The parameter whose name is the first `size` bytes at `name`. NULL: it is not known.
const struct parameter *parameter_find(const char *name, size_t size);
