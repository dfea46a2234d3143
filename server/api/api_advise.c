#include "server/api/api.h"

#include "server/document/advice_document.h"
#include "server/http/kept_reply.h"
#include "server/http/module_request.h"

struct advise_query {
    struct module_request asked;
    struct advice_request request;
};

// A size that was given is `least` or more, as on the command line; 0 where none was.
static bool read_size(const struct request *request, const char *name, int64_t least, int64_t *size) {
    struct error unread;
    return request_int64(request, name, 0, size, &unread) && (*size >= least || !request_given(request, name));
}

static bool read_query(struct request *request, struct advise_query *query, struct error *error) {
    *query = (struct advise_query){0};
    if (!module_request_of_api(request, &query->asked, error) ||
        !request_capacity(request, 0, &query->request.capacity_bytes, error) ||
        !request_int64(request, "ways", ADVICE_WAYS_DEFAULT, &query->request.ways, error))
        return false;
    if (query->request.ways < 2 || query->request.ways > 1 << 20)
        return error_set(error, ERROR_BAD_REQUEST, "ways is a number of chips, two or more.");
    if (!read_size(request, "batch", 1, &query->request.batch))
        return error_set(error, ERROR_BAD_REQUEST, "batch is the size of the batch dimension, one or more.");
    if (read_size(request, "sequence", 2, &query->request.sequence)) return true;
    return error_set(error, ERROR_BAD_REQUEST, "sequence is the length of a sequence, two or more.");
}

static bool write_advice(struct work *work, void *context, struct json_writer *w, struct error *error) {
    const struct advise_query *query = context;
    const struct module_request *asked = &query->asked;
    const struct hlo_module *module = module_store_load(work, &asked->found, error);
    struct advice *advice = arena_new(&work->arena, struct advice, 1);
    if (!module) return false;
    if (!advice) return work_out_of_memory(error);
    if (!advice_make(module, &query->request, &work->arena, advice, error))
        return error_in_file(error, asked->found.file->path, (int64_t)asked->found.program->offset);
    struct advice_document document = {advice, asked->session.name, asked->found.file->host, asked->module};
    advice_json_write(&document, w);
    return true;
}

bool api_advise(struct request *request, struct reply *reply, struct error *error) {
    struct advise_query query;
    if (!read_query(request, &query, error)) return false;
    const char *endpoint = arena_printf(&request->work.arena, "advise %lld %lld %lld %lld",
                                        (long long)query.request.capacity_bytes, (long long)query.request.ways,
                                        (long long)query.request.batch, (long long)query.request.sequence);
    if (!endpoint) return work_out_of_memory(error);
    const char *key = module_request_key(request, &query.asked, endpoint, error);
    return key && kept_reply(request, key, REPLY_JSON, write_advice, &query, reply, error);
}
