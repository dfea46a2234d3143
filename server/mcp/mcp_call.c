#include "server/mcp/mcp_call.h"

#include <string.h>
#include <time.h>

const char *mcp_text(const struct mcp_call *call, const char *name) {
    const char *text = json_string_value(json_object_get(call->arguments, name));
    return text && text[0] ? text : NULL;
}

size_t mcp_top(const struct mcp_call *call) {
    const json_t *top = json_object_get(call->arguments, "top");
    return top ? (size_t)json_integer_value(top) : MCP_TOP_USUAL;
}

const char *mcp_number_text(const struct mcp_call *call, const char *name) {
    const json_t *number = json_object_get(call->arguments, name);
    return number ? arena_printf(call->arena, "%lld", (long long)json_integer_value(number)) : NULL;
}

void mcp_caveat(struct mcp_call *call, const char *sentence) {
    json_array_append_new(call->caveats, json_string(sentence));
}

void mcp_caveats(struct mcp_call *call, json_t *sentences) {
    if (sentences) json_array_extend(call->caveats, sentences);
}

json_t *mcp_post(struct mcp_call *call, const char *resource, const struct request_argument *query, struct bytes body,
                 struct error *error) {
    struct inner_question question = {resource, query, body, call->reading};
    return inner_ask_json(call->app, &question, error);
}

json_t *mcp_ask(struct mcp_call *call, const char *resource, const struct request_argument *query,
                struct error *error) {
    return mcp_post(call, resource, query, (struct bytes){0}, error);
}

static bool is_complete(const json_t *document) {
    return !json_is_false(json_object_get(document, "complete"));
}

json_t *mcp_ask_until_complete(struct mcp_call *call, const char *resource, const struct request_argument *query,
                               struct error *error) {
    enum { PAUSE_MS = 10 };
    const struct timespec pause = {0, PAUSE_MS * 1000000L};
    json_t *document = mcp_ask(call, resource, query, error);
    for (int waited_ms = 0; document && !is_complete(document) && waited_ms < MCP_PATIENCE_MS; waited_ms += PAUSE_MS) {
        if (reading_is_abandoned(call->reading)) break;
        nanosleep(&pause, NULL);
        json_decref(document);
        document = mcp_ask(call, resource, query, error);
    }
    if (document && !is_complete(document)) mcp_caveat(call, "Not everything is read yet; ask again for the rest.");
    return document;
}

void mcp_take(json_t *to, const json_t *from, const char *const keys[]) {
    for (; *keys; keys++) {
        json_t *value = json_object_get(from, *keys);
        if (value) json_object_set(to, *keys, value);
    }
}

// --- Columns ---

static json_t *row_of(const json_t *columns, const json_t *strings, const struct mcp_column *wanted, size_t i) {
    json_t *row = json_object();
    for (; wanted->name; wanted++) {
        json_t *value = json_array_get(json_object_get(columns, wanted->name), i);
        if (wanted->is_text_number) value = json_array_get(strings, (size_t)json_integer_value(value));
        if (value) json_object_set(row, wanted->name, value);
    }
    return row;
}

size_t mcp_row_count(const json_t *document, const char *columns, const char *column) {
    return json_array_size(json_object_get(json_object_get(document, columns), column));
}

json_t *mcp_rows(const json_t *document, const char *columns, const struct mcp_column wanted[], size_t top) {
    json_t *rows = json_array();
    const json_t *strings = json_object_get(document, "strings"), *all = json_object_get(document, columns);
    size_t count = mcp_row_count(document, columns, wanted[0].name);
    for (size_t i = 0; i < count && i < top; i++) json_array_append_new(rows, row_of(all, strings, wanted, i));
    return rows;
}

json_int_t mcp_sum_past(const json_t *document, const char *columns, const char *column, size_t top) {
    const json_t *values = json_object_get(json_object_get(document, columns), column);
    json_int_t sum = 0;
    for (size_t i = top; i < json_array_size(values); i++) sum += json_integer_value(json_array_get(values, i));
    return sum;
}
