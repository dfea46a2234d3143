// What the user's environment says; a test gives its own.
#pragma once

typedef const char *environment_reader(const char *name);  // NULL, or a text; "" counts as NULL to environment_get

static inline const char *environment_get(environment_reader *of, const char *name) {
    const char *value = of(name);
    return value && *value ? value : 0;
}
