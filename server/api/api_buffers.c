#include "server/api/api.h"

#include <inttypes.h>
#include <stdlib.h>

#include "server/document/buffer_json.h"
#include "server/http/kept_reply.h"
#include "server/http/module_request.h"

enum { BUFFERS_USUAL = 2000, BUFFERS_MAX = 10000 };

struct buffers_request {
    struct module_request module;
    int64_t limit;
};

struct sized_row {
    int64_t size_bytes;
    uint32_t row;
};

static int largest_first(const void *left, const void *right) {
    const struct sized_row *a = left, *b = right;
    if (a->size_bytes != b->size_bytes) return a->size_bytes < b->size_bytes ? 1 : -1;
    return a->row < b->row ? -1 : a->row > b->row;
}

// The rows that name a buffer; NULL at the arena's limit.
static struct sized_row *sort_rows(const struct memory_view *view, struct arena *arena, uint32_t *count) {
    struct sized_row *rows = arena_push_raw(arena, view->row_count, sizeof *rows);
    *count = 0;
    for (uint32_t i = 0; rows && i < view->row_count; i++) {
        if (view->rows[i].buffer != HLO_NONE) rows[(*count)++] = (struct sized_row){view->rows[i].size_bytes, i};
    }
    if (rows) qsort(rows, *count, sizeof *rows, largest_first);
    return rows;
}

static bool write_rows(const struct memory_view *view, uint32_t limit, struct arena *arena, struct json_writer *w,
                       struct error *error) {
    struct buffer_teller teller;
    uint32_t count;
    struct sized_row *rows = sort_rows(view, arena, &count);
    if (!rows) return work_out_of_memory(error);
    if (!buffer_teller_init(&teller, view, arena, error)) return false;
    uint32_t told = count < limit ? count : limit;
    json_write_int64_key(w, "left_out", (int64_t)count - told);
    json_open_object_key(w, "buffers");
    for (uint32_t i = 0; i < told; i++) {
        const struct memory_buffer *row = &view->rows[rows[i].row];
        json_write_int64_text(w, view->module->buffers[row->buffer].id);
        json_end_key(w);
        if (!buffer_json_write(&teller, row->buffer, row, w, error)) return false;
    }
    json_close_object(w);
    return true;
}

static bool write_buffers(struct work *work, void *context, struct json_writer *w, struct error *error) {
    const struct buffers_request *asked = context;
    const struct found_module *found = &asked->module.found;
    const struct hlo_module *module = module_store_load(work, found, error);
    struct memory_view view;
    if (!module) return false;
    json_open_object(w);
    json_write_text_key(w, "session", asked->module.session.name);
    json_write_text_key(w, "host", found->file->host);
    json_write_text_key(w, "module", asked->module.module);
    json_write_int64_key(w, "memory_space", asked->module.space);
    if (!memory_view_build(module, asked->module.space, MEMORY_VIEW_EXACT, &work->arena, &view, error) ||
        !write_rows(&view, (uint32_t)asked->limit, &work->arena, w, error))
        return error_in_file(error, found->file->path, (int64_t)found->program->offset);
    json_close_object(w);
    return true;
}

bool api_buffers(struct request *request, struct reply *reply, struct error *error) {
    struct buffers_request asked;
    if (!module_request_of_api(request, &asked.module, error) ||
        !request_int64(request, "limit", BUFFERS_USUAL, &asked.limit, error))
        return false;
    if (asked.limit < 1 || asked.limit > BUFFERS_MAX)
        return error_set(error, ERROR_BAD_REQUEST, "\"limit\" must be from 1 to %d.", BUFFERS_MAX);
    const char *name = arena_printf(&request->work.arena, "buffers %" PRId64, asked.limit);
    if (!name) return work_out_of_memory(error);
    const char *key = module_request_key(request, &asked.module, name, error);
    return key && kept_reply(request, key, REPLY_JSON, write_buffers, &asked, reply, error);
}
