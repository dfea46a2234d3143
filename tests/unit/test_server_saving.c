// Pages that are saved: whatever is asked and answered, the file's elements are the program's own.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/app.h"
#include "server/http/reply.h"
#include "server/saving/saved_page.h"
#include "server/saving/saved_tools.h"
#include "server/text/base64.h"
#include "server/text/query_text.h"

#define HOSTILE "</script><!--<script>alert(1)</script>"

struct fixture {
    struct app app;
    struct work work;
    struct saved_page page;
    struct output output;
    struct error error;
};

static void answer_hostile(struct request *request, struct reply *reply) {
    bool is_refused = strcmp(request->path, "/api/v1/refused") == 0;
    reply_short(reply, is_refused ? HTTP_NOT_FOUND : HTTP_OK, REPLY_JSON,
                is_refused ? "{\"error\":{\"message\":\"Not here.\"}}" : "{\"name\":\"" HOSTILE "\"}");
}

static void begin(struct fixture *f) {
    *f = (struct fixture){.app = {.ask_api = answer_hostile, .cache = cache_new(1 << 20, 1)}};
    work_init(&f->work, f->app.cache);
    output_init(&f->output, OUTPUT_LIMIT_BYTES);
    assert_true(saved_page_begin(&f->page, &f->app, &f->work, &f->error));
}

static void end(struct fixture *f) {
    saved_page_free(&f->page);
    output_free(&f->output);
    work_free(&f->work);
    cache_free(f->app.cache);
}

static size_t count_of(const struct output *output, const char *part) {
    size_t count = 0, size = strlen(part);
    for (size_t i = 0; i + size <= output->size; i++) count += memcmp(output->data + i, part, size) == 0;
    return count;
}

static void nothing_that_is_asked_or_answered_ends_an_element(void **state) {
    (void)state;
    struct fixture f, empty;
    const char *const tools[] = {HOSTILE, NULL};
    struct saved_ask ask = {"modules", {{"session", HOSTILE}, {HOSTILE, "1"}, {"host", NULL}, {NULL, NULL}}};
    begin(&empty);
    assert_true(saved_page_write(&empty.page, "", tools + 1, &empty.output, &empty.error));
    begin(&f);
    assert_true(saved_page_add(&f.page, &ask, &f.error));
    saved_page_leave_out(&f.page, HOSTILE);
    assert_true(saved_page_write(&f.page, "?run=" HOSTILE, tools, &f.output, &f.error));
    assert_int_equal(count_of(&f.output, "</script>"), count_of(&empty.output, "</script>") + 1);
    assert_int_equal(count_of(&f.output, "<script"), count_of(&empty.output, "<script") + 1);
    assert_int_equal(count_of(&f.output, "<!--"), count_of(&empty.output, "<!--"));
    assert_int_equal(count_of(&f.output, "alert(1)"), 5);  // in the list, escaped; what was answered is base64
    end(&f);
    end(&empty);
}

static void what_the_view_can_do_without_is_left_out(void **state) {
    (void)state;
    struct fixture f;
    struct saved_ask ask = {"refused", {{NULL, NULL}}};
    begin(&f);
    assert_true(saved_page_add(&f.page, &ask, &f.error));
    assert_int_equal(saved_page_bytes(&f.page), 0);
    assert_null(saved_page_ask(&f.page, &ask, &f.error));
    assert_int_equal(f.error.code, ERROR_NOT_FOUND);
    assert_string_equal(f.error.message, "Not here.");
    end(&f);
}

static void a_file_name_is_plain(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    struct saved_view view = {.session = "../a\"b\r\n\xc3\xa9", .module = "jit_f(1)", .tool = "memory_viewer"};
    assert_string_equal(saved_view_name(&view, &arena), ".._a_b____ jit_f(1).html");
    arena_free(&arena);
}

static void bytes_as_base64(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct output output;
        output_init(&output, 100);
        base64_write(bytes_of(pairs[i][0]), &output);
        assert_int_equal(output.size, strlen(pairs[i][1]));
        if (output.size) assert_memory_equal(output.data, pairs[i][1], output.size);
        output_free(&output);
    }
}

static void a_query_is_encoded_and_decoded(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    struct text_writer text = {.arena = &arena};
    query_put(&text, "?run=", "a b/\xc3\xa9&c");
    assert_string_equal(text_writer_finish(&text), "?run=a%20b/%C3%A9%26c");
    char coded[] = "a%20b%2fc+d%zz%0%00";
    assert_string_equal(query_decode(coded), "a b/c d%zz%0%00");
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_that_is_asked_or_answered_ends_an_element),
        cmocka_unit_test(what_the_view_can_do_without_is_left_out),
        cmocka_unit_test(a_file_name_is_plain),
        cmocka_unit_test(bytes_as_base64),
        cmocka_unit_test(a_query_is_encoded_and_decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
