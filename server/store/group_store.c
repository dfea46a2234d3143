#include "server/store/group_store.h"

#include <inttypes.h>
#include <string.h>

struct asked {
    struct work *work;
    const struct found_module *found;
    const struct group_question *question;
};

static bool make_steps(struct work *work, const struct asked *asked, struct arena *arena, struct group_steps *steps,
                       struct error *error) {
    const struct group_question *question = asked->question;
    const struct hlo_module *module = module_store_load(work, asked->found, error);
    struct memory_view view;
    struct buffer_sources sources;
    struct memory_grouping grouping;
    if (!module) return false;
    return (memory_view_build(module, question->space, MEMORY_VIEW_EXACT, &work->arena, &view, error) &&
            buffer_sources_read(module, question->frameworks, &work->arena, &sources, error) &&
            memory_grouping_make(&view, &sources, question->by, &work->arena, &grouping, error) &&
            group_steps_make(&grouping, &sources, arena, steps, error)) ||
           error_in_file(error, asked->found->file->path, (int64_t)asked->found->program->offset);
}

// What is needed on the way is given back when the steps stand.
static bool fill_steps(const struct filling *from, void *thing, struct error *error) {
    const struct asked *asked = from->of;
    struct work work;
    work_init_for(&work, asked->work);
    bool is_good = make_steps(&work, asked, from->arena, thing, error);
    work_free(&work);
    return is_good;
}

static const struct stored_kind steps_kind = {.name = "group steps",
                                              .thing_bytes = sizeof(struct group_steps),
                                              .arena_limit_bytes = (size_t)2 << 30,
                                              .is_derived = true,
                                              .fill = fill_steps};

const struct group_steps *group_store_steps(struct work *work, const struct found_module *found,
                                            const struct group_question *question, struct error *error) {
    struct asked asked = {work, found, question};
    const char *key = arena_printf(&work->arena, "%s %" PRId64 " %s %zu %s %s", steps_kind.name, question->space,
                                   memory_group_by_name(question->by), strlen(question->frameworks),
                                   question->frameworks, found->key);
    if (key) return file_store_get(work, &steps_kind, key, found->file, &asked, error);
    work_out_of_memory(error);
    return NULL;
}
