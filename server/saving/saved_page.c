#include "server/saving/saved_page.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/growing_array.h"
#include "analysis/base/refused_memory.h"
#include "server/app.h"
#include "server/embedded_assets.h"
#include "server/http/gzip.h"
#include "server/http/inner_ask.h"
#include "server/json_read.h"
#include "server/text/base64.h"
#include "server/text/json_writer.h"
#include "server/text/query_text.h"

static const char MARKER[] = "<!--SAVED_DATA-->";

bool saved_page_begin(struct saved_page *page, const struct app *app, struct work *work, struct error *error) {
    *page = (struct saved_page){.app = app,
                                .arena = &work->arena,
                                .reading = work->reading,
                                .list = arena_new(&work->arena, struct json_writer, 1)};
    output_init(&page->replies, OUTPUT_LIMIT_BYTES);
    output_init(&page->bodies, OUTPUT_LIMIT_BYTES);
    if (!page->list) return work_out_of_memory(error);
    *page->list = json_writer_on(&page->replies);
    json_open_array(page->list);
    return true;
}

void saved_page_free(struct saved_page *page) {
    output_free(&page->replies);
    output_free(&page->bodies);
}

size_t saved_page_bytes(const struct saved_page *page) {
    return page->bodies.size;
}

void saved_page_leave_out(struct saved_page *page, const char *sentence) {
    if (sentence && !growing_array_add(page->arena, page->left_out, page->left_out_count, sentence))
        page->bodies.failed = true;
}

void saved_page_miss(struct saved_page *page, const char *sentence) {
    if (sentence && !growing_array_add(page->arena, page->missed, page->missed_count, sentence))
        page->bodies.failed = true;
}

bool saved_page_do_without(struct saved_page *page, const struct saved_ask *ask, const struct error *reason) {
    bool is_nothing = reason->code == ERROR_NOT_FOUND || reason->code == ERROR_BAD_REQUEST;
    if (!is_nothing)
        saved_page_miss(page, arena_printf(page->arena, "%.60s: %s%s%.300s", ask->resource, reason->file,
                                           reason->file[0] ? ": " : "", reason->message));
    return reason->code != ERROR_NO_MEMORY;
}

// --- Asking ---

bool saved_ask_read(struct arena *arena, const char *address, struct saved_ask *ask) {
    char *rest = NULL, *copy = arena_printf(arena, "%s", address);
    *ask = (struct saved_ask){.resource = copy ? strtok_r(copy, "?", &rest) : NULL};
    for (size_t i = 0; ask->resource; i++) {
        char *name = strtok_r(NULL, "&", &rest);
        if (!name) return true;
        char *value = strchr(name, '=');
        if (i + 1 >= SAVED_QUERY_MAX || !value) return false;
        *value++ = '\0';
        ask->query[i] = (struct request_argument){query_decode(name), query_decode(value)};
    }
    return false;
}

static struct inner_question question_of(const struct saved_page *page, const struct saved_ask *ask,
                                         struct bytes body) {
    return (struct inner_question){ask->resource, ask->query, body, page->reading};
}

json_t *saved_page_post(struct saved_page *page, const struct saved_ask *ask, struct bytes body, struct error *error) {
    struct inner_question question = question_of(page, ask, body);
    return inner_ask_json(page->app, &question, error);
}

json_t *saved_page_ask(struct saved_page *page, const struct saved_ask *ask, struct error *error) {
    return saved_page_post(page, ask, (struct bytes){0}, error);
}

// --- Keeping ---

static const char *value_of(const struct saved_ask *ask, const char *name) {
    for (const struct request_argument *one = ask->query; one->name; one++) {
        if (one->value && strcmp(one->name, name) == 0) return one->value;
    }
    return NULL;
}

// A request need not name what is usual.
static bool may_be_left_out(const struct request_argument *one) {
    static const struct request_argument usual[] = {
        {"host", NULL}, {"memory_id", NULL}, {"memory_space", "0"}, {"by", "source"}};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        if (strcmp(usual[i].name, one->name) == 0) return !usual[i].value || strcmp(usual[i].value, one->value) == 0;
    }
    return false;
}

static bool answers(const struct saved_ask *held, const struct saved_ask *ask) {
    if (strcmp(held->resource, ask->resource) != 0) return false;
    for (const struct request_argument *one = ask->query; one->name; one++) {
        const char *value = value_of(held, one->name);
        if (one->value && (!value || strcmp(value, one->value) != 0)) return false;
    }
    for (const struct request_argument *one = held->query; one->name; one++) {
        if (one->value && !value_of(ask, one->name) && !may_be_left_out(one)) return false;
    }
    return true;
}

bool saved_page_holds(const struct saved_page *page, const struct saved_ask *ask) {
    for (size_t i = 0; i < page->held_count; i++) {
        if (answers(&page->held[i], ask)) return true;
    }
    return false;
}

static void remember(struct saved_page *page, const struct saved_ask *ask) {
    struct saved_ask held = {.resource = ask->resource};
    for (size_t i = 0; ask->query[i].name; i++) {
        const char *value = ask->query[i].value;
        const char *copy = value ? arena_printf(page->arena, "%s", value) : NULL;
        held.query[i] = (struct request_argument){ask->query[i].name, copy};
    }
    if (!growing_array_add(page->arena, page->held, page->held_count, held)) page->bodies.failed = true;
}

static void list_reply(struct saved_page *page, const struct saved_ask *ask, const char *each) {
    remember(page, ask);
    struct json_writer *w = page->list;
    json_open_object(w);
    json_write_text_key(w, "resource", ask->resource);
    json_write_int64_key(w, "status", HTTP_OK);
    if (each) json_write_text_key(w, "each", each);
    json_open_object_key(w, "query");
    for (const struct request_argument *one = ask->query; one->name; one++) {
        if (!one->value) continue;
        json_write_text(w, one->name);
        json_end_key(w);
        json_write_text(w, one->value);
    }
    json_close_object(w);
    json_close_object(w);
}

// What zlib was refused nobody has counted (counted_block.h).
static void count_refusal_of_zlib(bool is_good, const struct output *made) {
    if (!is_good && !made->failed) memory_or_refusal(NULL);
}

static bool put_body(struct saved_page *page, struct bytes plain) {
    struct output gzip;
    output_init(&gzip, OUTPUT_LIMIT_BYTES);
    bool is_good = gzip_compress(plain, &gzip);
    if (is_good) {
        output_put(&page->bodies, "<script type=\"text/plain\" class=\"saved\">");
        base64_write(output_bytes(&gzip), &page->bodies);
        output_put(&page->bodies, "</script>\n");
    }
    count_refusal_of_zlib(is_good, &gzip);
    output_free(&gzip);
    return is_good && !page->bodies.failed;
}

bool saved_page_keep(struct saved_page *page, const struct saved_ask *ask, const char *each, const json_t *body,
                     struct error *error) {
    char *text = json_dumps(body, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    bool is_good = text && put_body(page, bytes_of(text));
    json_text_free(text);
    if (!is_good) return error_set(error, ERROR_TOO_BIG, "There is not enough memory to put the page together.");
    list_reply(page, ask, each);
    return true;
}

static bool do_without(struct saved_page *page, const struct saved_ask *ask, const struct inner_answer *answer,
                       struct error *error) {
    inner_answer_refusal(answer, error);
    return saved_page_do_without(page, ask, error);
}

static bool add_answer(struct saved_page *page, const struct saved_ask *ask, struct bytes body, struct error *error) {
    if (!put_body(page, body))
        return error_set(error, ERROR_TOO_BIG, "There is not enough memory to put the page together.");
    list_reply(page, ask, NULL);
    return true;
}

bool saved_page_add(struct saved_page *page, const struct saved_ask *ask, struct error *error) {
    struct inner_question question = question_of(page, ask, (struct bytes){0});
    struct inner_answer answer;
    bool is_good = inner_ask(page->app, &question, &answer) ? add_answer(page, ask, answer.reply.body, error)
                                                            : do_without(page, ask, &answer, error);
    inner_answer_free(&answer);
    return is_good;
}

// --- The file ---

static const struct embedded_asset *find_frame(void) {
    for (size_t i = 0; i < embedded_asset_count; i++) {
        if (strcmp(embedded_assets[i].path, EMBEDDED_SAVED_PAGE_PATH) == 0) return &embedded_assets[i];
    }
    return NULL;
}

// Nothing in JSON but its strings has a "<".
static void put_escaped(struct bytes json, struct output *output) {
    for (size_t i = 0; i < json.size; i++) {
        if (json.data[i] == '<')
            output_put(output, "\\u003c");
        else
            output_append_char(output, (char)json.data[i]);
    }
}

static void put_index(struct saved_page *page, const char *address, const char *const tools[], struct output *output) {
    struct output index;
    output_init(&index, OUTPUT_LIMIT_BYTES);
    struct json_writer w = json_writer_on(&index);
    json_open_object(&w);
    json_write_text_key(&w, "version", HBMVIEW_VERSION);
    json_write_text_key(&w, "address", page->address ? page->address : address);
    json_open_array_key(&w, "tools");
    for (; *tools; tools++) json_write_text(&w, *tools);
    json_close_array(&w);
    json_open_array_key(&w, "left_out");
    for (size_t i = 0; i < page->left_out_count; i++) json_write_text(&w, page->left_out[i]);
    for (size_t i = 0; i < page->missed_count; i++) json_write_text(&w, page->missed[i]);
    json_close_array(&w);
    if (page->log) json_write_text_key(&w, "log", page->log);
    json_key(&w, "replies");
    json_close_array(page->list);
    output_append(&index, output_bytes(&page->replies));
    w.needs_comma = true;
    json_close_object(&w);
    output_put(output, "<script type=\"application/json\" id=\"saved\">");
    put_escaped(output_bytes(&index), output);
    output_put(output, "</script>\n");
    output->failed |= index.failed || page->replies.failed;
    output_free(&index);
}

bool saved_page_write(struct saved_page *page, const char *address, const char *const tools[], struct output *output,
                      struct error *error) {
    const struct embedded_asset *asset = find_frame();
    struct output frame;
    output_init(&frame, OUTPUT_LIMIT_BYTES);
    bool is_good = asset && gzip_inflate((struct bytes){asset->gzip, asset->gzip_size}, asset->identity_size, &frame);
    count_refusal_of_zlib(is_good, &frame);
    struct bytes whole = output_bytes(&frame);
    size_t marker = is_good ? bytes_find(whole, BYTES(MARKER)) : 0, after = marker + sizeof MARKER - 1;
    is_good = is_good && after <= whole.size;
    if (is_good) {
        output_append(output, (struct bytes){whole.data, marker});
        put_index(page, address, tools, output);
        output_append(output, output_bytes(&page->bodies));
        output_append(output, (struct bytes){whole.data + after, whole.size - after});
    }
    output_free(&frame);
    return (is_good && !output->failed) ||
           error_set(error, ERROR_TOO_BIG, "There is not enough memory to put the page together.");
}
