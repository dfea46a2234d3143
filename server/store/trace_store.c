#include "server/store/trace_store.h"

#include "server/store/module_store.h"

enum { CONTENTS_ARENA_LIMIT_BYTES = 16 << 20 };

static bool fill_contents(const struct filling *from, void *thing, struct error *error) {
    const struct file_index *indexed = from->of;
    return trace_contents_read(from->source, &indexed->index, from->arena, thing, error);
}

static const struct stored_kind contents_kind = {.name = "contents",
                                                 .thing_bytes = sizeof(struct trace_contents),
                                                 .arena_limit_bytes = CONTENTS_ARENA_LIMIT_BYTES,
                                                 .is_light = true,
                                                 .fill = fill_contents};

const struct trace_contents *trace_store_contents(struct work *work, const struct input_file *file,
                                                  struct error *error) {
    const struct file_index *indexed = module_store_index(work, file, error);
    const char *key = indexed ? file_store_key(work, contents_kind.name, file, error) : NULL;
    return key ? file_store_get(work, &contents_kind, key, file, indexed, error) : NULL;
}
