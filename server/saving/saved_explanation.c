#include "server/saving/saved_explanation.h"

#include <string.h>

#include "server/saving/saved_lists.h"
#include "server/saving/saved_program.h"
#include "server/text/query_text.h"

// --- The answer ---

// Among equal programs that of the open session was meant; the page, which has one answer, need not say so again.
static json_t *explain(struct saved_page *page, const struct saved_view *view, struct error *error) {
    struct saved_ask ask = {"explain", {{"prefer", view->session}, {"capacity", view->capacity}, {NULL, NULL}}};
    struct saved_ask kept = {"explain", {{"capacity", view->capacity}, {NULL, NULL}}};
    json_t *reply = saved_page_post(page, &ask, bytes_of(view->log), error);
    if (reply && saved_page_keep(page, &kept, NULL, reply, error)) return reply;
    json_decref(reply);
    return NULL;
}

// --- The program that it is joined to ---

static const char *text_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

static bool is_same_program(const json_t *a, const json_t *b) {
    const char *names[] = {"session", "module"};
    for (size_t i = 0; i < 2; i++) {
        const char *one = text_of(a, names[i]), *other = text_of(b, names[i]);
        if (!one || !other || strcmp(one, other) != 0) return false;
    }
    return true;
}

// The first message with one; how many others there are is said.
static const json_t *first_joined(struct saved_page *page, const json_t *reply) {
    const json_t *first = NULL;
    size_t i, others = 0;
    json_t *message;
    json_array_foreach(json_object_get(reply, "messages"), i, message) {
        const json_t *joined = json_object_get(message, "joined");
        if (!text_of(joined, "session") || !text_of(joined, "module")) continue;
        if (!first) first = message;
        if (!is_same_program(json_object_get(first, "joined"), joined)) others++;
    }
    if (others)
        saved_page_leave_out(page,
                             arena_printf(page->arena, "The programs of %zu more messages are not in it.", others));
    return first;
}

// Of the page's own only what this page can go back to.
static bool put_address(struct saved_page *page, const struct saved_view *view, const json_t *joined,
                        struct error *error) {
    struct text_writer text = {.arena = page->arena};
    text_put(&text, "?tag=out_of_memory");
    if (joined) query_put(&text, "&run=", text_of(joined, "session"));
    if (view->capacity) query_put(&text, "&capacity=", view->capacity);
    page->address = text_writer_finish(&text);
    return page->address || work_out_of_memory(error);
}

// The answer's links ask for the advice with its capacity.
static bool put_advice(struct saved_page *page, const struct saved_view *program, const json_t *message,
                       const char *capacity, struct error *error) {
    json_int_t bytes = json_integer_value(json_object_get(message, "capacity_bytes"));
    if (!capacity && bytes > 0) capacity = arena_printf(page->arena, "%lld", (long long)bytes);
    struct saved_ask ask = {"advise",
                            {{"session", program->session},
                             {"module", program->module},
                             {"host", program->host},
                             {"capacity", capacity},
                             {NULL, NULL}}};
    return !capacity || saved_page_add(page, &ask, error);
}

static bool put_program(struct saved_page *page, const json_t *message, const char *capacity, struct error *error) {
    const json_t *joined = json_object_get(message, "joined");
    const struct saved_view program = {
        .session = text_of(joined, "session"), .module = text_of(joined, "module"), .host = text_of(joined, "host")};
    page->other_tool = "memory_viewer";
    return saved_lists_put_session(page, program.session, error) && saved_program_put(page, &program, error) &&
           put_advice(page, &program, message, capacity, error);
}

bool saved_explanation_put(struct saved_page *page, const struct saved_view *view, struct error *error) {
    if (!view->log || !view->log[0])
        return error_set(error, ERROR_BAD_REQUEST,
                         "There is no answer to save yet: \"log\" must hold the text that was explained.");
    page->log = view->log;
    json_t *reply = explain(page, view, error);
    const json_t *message = reply ? first_joined(page, reply) : NULL;
    bool is_good = reply && put_address(page, view, json_object_get(message, "joined"), error) &&
                   (message ? put_program(page, message, view->capacity, error)
                            : saved_lists_put_sessions(page, NULL, NULL, error));
    json_decref(reply);
    return is_good;
}
