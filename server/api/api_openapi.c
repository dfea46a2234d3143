#include <string.h>

#include "server/api/api.h"
#include "server/api/api_parameters.h"
#include "server/api/api_routes.h"
#include "server/app.h"
#include "server/text/answer_schema.h"

static const char ERROR_FORM[] = "{error: {code: s, message: s, file: s?, offset: i?}}";

static void write_parameter(const char *name, size_t size, bool is_needed, struct json_writer *w) {
    const struct parameter *parameter = parameter_find(name, size);
    bool is_number = parameter && parameter->kind == PARAMETER_INT64;
    json_open_object(w);
    json_write_string_key(w, "name", (struct bytes){(const uint8_t *)name, size});
    json_write_text_key(w, "in", "query");
    json_write_bool_key(w, "required", is_needed);
    if (parameter) json_write_text_key(w, "description", parameter->description);
    json_key(w, "schema");
    answer_schema_write(is_number ? "i" : "s", w);
    json_close_object(w);
}

static void write_parameters(const char *takes, struct json_writer *w) {
    json_open_array_key(w, "parameters");
    for (const char *at = takes; *at; at += strspn(at, "! ")) {
        size_t size = strcspn(at, "! ");
        write_parameter(at, size, at[size] == '!', w);
        at += size;
    }
    json_close_array(w);
}

static void write_content(const char *type, const char *form, struct json_writer *w) {
    json_open_object_key(w, "content");
    json_open_object_key(w, type);
    json_key(w, "schema");
    answer_schema_write(*form ? form : "s", w);
    json_close_object(w);
    json_close_object(w);
}

static void write_responses(const struct route_words *words, struct json_writer *w) {
    json_open_object_key(w, "responses");
    json_open_object_key(w, "200");
    json_write_text_key(w, "description", words->summary);
    write_content(words->content_type, words->answers, w);
    json_close_object(w);
    json_open_object_key(w, "304");
    json_write_text_key(w, "description", "What If-None-Match names is what there is.");
    json_close_object(w);
    json_open_object_key(w, "default");
    json_write_text_key(w, "description", "Why there is no answer.");
    write_content(REPLY_JSON, ERROR_FORM, w);
    json_close_object(w);
    json_close_object(w);
}

static void write_body(const char *form, struct json_writer *w) {
    json_open_object_key(w, "requestBody");
    json_write_bool_key(w, "required", form != NULL);
    write_content(form ? REPLY_JSON : "text/plain", form ? form : "", w);
    json_close_object(w);
}

static void write_route(const struct route *route, struct json_writer *w) {
    bool is_post = route->post_bytes != ROUTE_GET;
    json_open_object_key(w, route->path);
    json_open_object_key(w, is_post ? "post" : "get");
    json_write_text_key(w, "operationId", route->path + strlen("/api/v1/"));
    json_write_text_key(w, "summary", route->words->summary);
    write_parameters(route->words->takes, w);
    if (is_post) write_body(route->words->body, w);
    write_responses(route->words, w);
    json_close_object(w);
    json_close_object(w);
}

static void write_token(const char *name, const char *type, const char *key, const char *value, struct json_writer *w) {
    json_open_object_key(w, name);
    json_write_text_key(w, "type", type);
    json_write_text_key(w, key, value);
    if (strcmp(type, "apiKey") == 0) json_write_text_key(w, "name", "token");
    json_close_object(w);
}

// Without --token it is not needed, so there is the empty way in as well.
static void write_security(struct json_writer *w) {
    static const char *const ways[] = {"bearer", "link"};
    json_open_object_key(w, "components");
    json_open_object_key(w, "securitySchemes");
    write_token("bearer", "http", "scheme", "bearer", w);
    write_token("link", "apiKey", "in", "query", w);
    json_close_object(w);
    json_close_object(w);
    json_open_array_key(w, "security");
    json_open_object(w);
    json_close_object(w);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        json_open_object(w);
        json_write_texts_key(w, ways[i], NULL, 0);
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_info(struct json_writer *w) {
    json_write_text_key(w, "openapi", "3.1.0");
    json_open_object_key(w, "info");
    json_write_text_key(w, "title", "hbmview");
    json_write_text_key(w, "version", HBMVIEW_VERSION);
    json_write_text_key(w, "description",
                        "What fills the memory of TPUs and GPUs. docs/api.md says what the members mean.");
    json_close_object(w);
}

bool api_openapi(struct request *request, struct reply *reply, struct error *error) {
    struct output *output = reply_output(request, error);
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    write_info(&w);
    json_open_object_key(&w, "paths");
    for (size_t i = 0; i < api_routes.count; i++) write_route(&api_routes.rows[i], &w);
    json_close_object(&w);
    write_security(&w);
    json_close_object(&w);
    return reply_written(reply, REPLY_JSON, output, error);
}
