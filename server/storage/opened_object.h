// One version of an object, as long as anybody reads it: counted, because what is on its way may outlive its reader.
#pragma once

#include <stdatomic.h>

#include "server/storage/object_page.h"

struct opened_object {
    atomic_uint users;
    struct stored_object object;  // its texts follow in `texts`
    char texts[];
};

// A copy with one user. NULL: no memory.
struct opened_object *opened_object_new(const struct stored_object *object);
struct opened_object *opened_object_share(struct opened_object *opened);  // with one user more
void opened_object_release(struct opened_object *opened);                 // NULL is fine
