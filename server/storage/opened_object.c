#include "server/storage/opened_object.h"

#include <stdlib.h>

struct opened_object *opened_object_new(const struct stored_object *object) {
    size_t name_size = strlen(object->name) + 1, pin_size = strlen(object->pin) + 1;
    struct opened_object *opened = malloc(sizeof *opened + name_size + pin_size);
    if (!opened) return NULL;
    memcpy(opened->texts, object->name, name_size);
    memcpy(opened->texts + name_size, object->pin, pin_size);
    opened->object = *object;
    opened->object.name = opened->texts;
    opened->object.pin = opened->texts + name_size;
    atomic_init(&opened->users, 1);
    return opened;
}

struct opened_object *opened_object_share(struct opened_object *opened) {
    atomic_fetch_add(&opened->users, 1);
    return opened;
}

void opened_object_release(struct opened_object *opened) {
    if (opened && atomic_fetch_sub(&opened->users, 1) == 1) free(opened);
}
