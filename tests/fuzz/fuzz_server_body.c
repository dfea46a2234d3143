// Any bytes as what is posted, after a line that is the address's query: what a check told is kept as it was read, and
// a saved page holds its index and its replies, whatever it was to be saved with.
//
//     run=s&tag=trend&module_name=jit_f
//     {"asked": ["trend?tool=memory_viewer&module=jit_f"]}
//
//     make fuzz T=server_body
#include <stdlib.h>
#include <string.h>

#include "server/api/api.h"
#include "server/app.h"
#include "server/document/check_progress.h"
#include "server/json_read.h"
#include "server/text/query_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { QUERY_BYTES_MAX = 2000, MEMBERS_OF_A_CHECK = 9, CACHE_BYTES = 1 << 20 };

static const char INDEX[] = "<script type=\"application/json\" id=\"saved\">", REPLY[] = "class=\"saved\">";

static void require(bool holds) {
    if (!holds) abort();
}

static void check_refusal(const struct error *error) {
    require(error->code > ERROR_NONE && error->code < ERROR_CODE_COUNT && error->message[0]);
}

// --- What a check tells ---

static char *in_braces(const struct output *members) {
    char *text = malloc(members->size + 3);
    require(text != NULL);
    text[0] = '{';
    if (members->size) memcpy(text + 1, members->data, members->size);
    memcpy(text + 1 + members->size, "}", 2);
    return text;
}

// It is JSON, and reads as itself.
static void check_told(const struct output *members, size_t row_count) {
    struct output again;
    struct error error;
    size_t rows;
    char *text = in_braces(members);
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    require(json_object_size(document) == MEMBERS_OF_A_CHECK && row_count <= CHECK_ROWS_MAX);
    require(json_array_size(json_object_get(document, "rows")) == row_count);
    output_init(&again, OUTPUT_LIMIT_BYTES);
    require(check_progress_read(bytes_of(text), &again, &rows, &error) && rows == row_count);
    require(bytes_equal(output_bytes(&again), output_bytes(members)));
    output_free(&again);
    json_decref(document);
    free(text);
}

static void check_progress(struct bytes body) {
    struct output members;
    struct error error;
    size_t row_count;
    output_init(&members, OUTPUT_LIMIT_BYTES);
    if (check_progress_read(body, &members, &row_count, &error))
        check_told(&members, row_count);
    else
        check_refusal(&error);
    output_free(&members);
}

// --- What a page is saved with ---

// An API that knows the session "s" and says nothing about it: what is asked of it is ours, and goes on one line.
static void answer_little(struct request *request, struct reply *reply) {
    require(strncmp(request->path, "/api/v1/", 8) == 0);
    bool is_list = strcmp(request->path, "/api/v1/sessions") == 0;
    bool is_there = !strchr(request->path, '?');
    reply_short(reply, is_there ? HTTP_OK : HTTP_NOT_FOUND, REPLY_JSON,
                is_list ? "{\"sessions\": [{\"name\": \"s\"}]}" : "{}");
}

static size_t count_of(struct bytes text, struct bytes word) {
    size_t count = 0;
    for (size_t at; (at = bytes_find(text, word)) < text.size; count++) {
        text.data += at + word.size;
        text.size -= at + word.size;
    }
    return count;
}

// No text from outside ends a script, or begins one.
static void check_page(struct bytes page) {
    size_t at = bytes_find(page, bytes_of(INDEX)) + sizeof INDEX - 1;
    require(at < page.size);
    struct bytes rest = {page.data + at, page.size - at};
    size_t size = bytes_find(rest, BYTES("</script>"));
    json_t *index = json_loadb((const char *)rest.data, size, 0, NULL);
    require(json_is_string(json_object_get(index, "address")) && json_is_array(json_object_get(index, "tools")));
    require(count_of(rest, bytes_of(REPLY)) == json_array_size(json_object_get(index, "replies")));
    json_decref(index);
}

static void read_query(char *query, struct request *request) {
    char *rest = NULL;
    for (char *name = strtok_r(query, "&", &rest); name; name = strtok_r(NULL, "&", &rest)) {
        char *value = strchr(name, '=');
        if (!value || request->query_count == REQUEST_QUERY_MAX) continue;
        *value++ = '\0';
        request->query[request->query_count++] = (struct request_argument){query_decode(name), query_decode(value)};
    }
}

// For the turn to put a page together: nothing is kept there.
static struct cache *cache_once(void) {
    static struct cache *cache;
    if (!cache) cache = cache_new(CACHE_BYTES, 1);
    require(cache != NULL);
    return cache;
}

static void check_save(const char *query, struct bytes body) {
    const struct app app = {.ask_api = answer_little};
    struct request request = {.app = &app, .method = "POST", .path = "/api/v1/save", .body = body};
    struct reply reply = {0};
    struct error error;
    work_init(&request.work, cache_once());
    request.target = arena_printf(&request.work.arena, "/api/v1/save?%s", query);
    char *copy = arena_printf(&request.work.arena, "%s", query);
    require(request.target && copy);
    read_query(copy, &request);
    if (api_save(&request, &reply, &error))
        check_page(reply.body);
    else
        check_refusal(&error);
    work_free(&request.work);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char query[QUERY_BYTES_MAX + 1];
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t length = end ? (size_t)(end - data) : 0;
    if (!end || length > QUERY_BYTES_MAX) return 0;
    struct bytes body = {end + 1, size - length - 1};
    memcpy(query, data, length);
    query[length] = '\0';
    json_read_begin();
    check_progress(body);
    check_save(query, body);
    return 0;
}
