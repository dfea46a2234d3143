// The tools about change: why it ran out of memory, what to change, and what did.
#include <string.h>

#include "server/mcp/mcp_answers.h"
#include "server/mcp/mcp_place.h"
#include "server/text/json_short.h"

static const char PREDICTED[] = "Savings are predicted by replaying the compiler's heap with the changed arrays; the "
                                "truth is between low_bytes and "
                                "high_bytes. Recompile and use diff to see what a change did.";

// --- explain ---

static bool is_joined(const json_t *document) {
    for (size_t i = 0; i < json_array_size(json_object_get(document, "messages")); i++) {
        if (json_is_object(json_object_get(json_array_get(json_object_get(document, "messages"), i), "joined")))
            return true;
    }
    return false;
}

json_t *mcp_answer_explain(struct mcp_call *call, struct error *error) {
    const char *text = mcp_text(call, "text");
    struct request_argument query[] = {{"session", mcp_text(call, "session")},
                                       {"module", mcp_text(call, "module")},
                                       {"capacity", mcp_text(call, "capacity")},
                                       {0}};
    if (!text) return error_set(error, ERROR_BAD_REQUEST, "\"text\" is empty; give the log or the message."), NULL;
    json_t *document = mcp_post(call, "explain", query, bytes_of(text), error);
    if (!document) return NULL;
    bool has_program = is_joined(document);
    mcp_caveat(call, "Sizes such as 17.25G were rounded by whoever wrote the message.");
    mcp_caveat(call, has_program
                         ? PREDICTED
                         : "No program of the log directory was found to be the message's: causes and fixes are "
                           "those of its words alone, without figures.");
    if (json_array_size(json_object_get(document, "unreadable")))
        mcp_caveat(call, "What is listed as unreadable was not searched: the message's program may be there.");
    json_shorten(document, mcp_top(call));
    return document;
}

// --- advise ---

static bool is_untold(const json_t *one) {
    return json_is_null(json_object_get(one, "predicted_total_bytes"));
}

// Those that apply; the ids of the others, and of those of which the program tells too little, with the reason.
static json_t *applicable(const json_t *document, json_t *others, json_t *untold) {
    json_t *list = json_array(), *one;
    size_t i;
    json_array_foreach(json_object_get(document, "interventions"), i, one) {
        if (json_is_true(json_object_get(one, "applies")))
            json_array_append(list, one);
        else if (is_untold(one))
            json_object_set(untold, json_string_value(json_object_get(one, "id")),
                            json_array_get(json_object_get(one, "evidence"), 0));
        else
            json_array_append(others, json_object_get(one, "id"));
    }
    return list;
}

json_t *mcp_answer_advise(struct mcp_call *call, struct error *error) {
    struct mcp_place place;
    if (!mcp_find_place(call, &place, error)) return NULL;
    struct request_argument query[] = {{"session", place.session},
                                       {"module", place.module},
                                       {"host", place.host},
                                       {"capacity", mcp_text(call, "capacity")},
                                       {"ways", mcp_number_text(call, "ways")},
                                       {"batch", mcp_number_text(call, "batch")},
                                       {"sequence", mcp_number_text(call, "sequence")},
                                       {0}};
    json_t *document = mcp_ask(call, "advise", query, error);
    if (!document) return NULL;
    json_t *others = json_array();
    json_t *untold = json_object();
    json_object_set_new(document, "interventions", applicable(document, others, untold));
    json_object_set_new(document, "not_applicable", others);
    json_object_set_new(document, "cannot_tell", untold);
    json_sort_list(document, "interventions", "saves_bytes");
    json_shorten(document, mcp_top(call));
    mcp_caveat(call, PREDICTED);
    if (!mcp_text(call, "capacity"))
        mcp_caveat(call, "Without a capacity there is no plan, only pairs that often go together (chains); give a size "
                         "or a device.");
    return document;
}

// --- diff ---

json_t *mcp_answer_diff(struct mcp_call *call, struct error *error) {
    struct mcp_place a, b;
    const char *session_b = mcp_text(call, "session_b"), *module_b = mcp_text(call, "module_b");
    if (!mcp_find_place(call, &a, error)) return NULL;
    b = (struct mcp_place){.session = session_b ? session_b : a.session};
    const char *asked = module_b ? module_b : mcp_text(call, "module");
    if (!mcp_find_module(call, b.session, asked, &b.module, error)) return NULL;
    struct request_argument query[] = {{"session", a.session},
                                       {"module", a.module},
                                       {"host", a.host},
                                       {"session_b", b.session},
                                       {"module_b", b.module},
                                       {"by", mcp_text(call, "by")},
                                       {"memory_space", mcp_number_text(call, "memory_space")},
                                       {"top", arena_printf(call->arena, "%zu", mcp_top(call))},
                                       {0}};
    json_t *document = mcp_ask(call, "diff", query, error);
    if (!document) return NULL;
    mcp_caveat(call, "Rows and what is left out sum to the difference of the peaks, to the byte; buffers are paired by "
                     "what they are, so one that changed both name and shape counts as gone and new.");
    return document;
}
