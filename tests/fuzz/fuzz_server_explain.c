// Any bytes as a log: what is explained of it is JSON, and its text and Markdown get to the end. There is no log
// directory, so no program is joined: what that adds comes from fuzz_server_documents and fuzz_advice.
//
//     make fuzz T=server_explain
#include <assert.h>
#include <jansson.h>

#include "server/document/explain_document.h"

enum { OUTPUT_BYTES = 64 << 20, LOG_BYTES_MAX = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_json(const struct explanation *explanation, struct arena *arena) {
    struct output output;
    output_init(&output, OUTPUT_BYTES);
    struct json_writer w = json_writer_on(&output);
    explain_json_write(explanation, arena, &w);
    json_t *document = output.failed ? NULL : json_loadb(output.data, output.size, JSON_ALLOW_NUL, NULL);
    assert(output.failed || document);
    json_decref(document);
    output_free(&output);
}

static void write_text(const struct explanation *explanation, bool is_markdown, struct arena *arena) {
    struct output output;
    output_init(&output, OUTPUT_BYTES);
    explain_text_write(explanation, is_markdown, arena, &output);
    assert(output.failed || output.size);
    output_free(&output);
}

static void explain(struct work *work, struct bytes log, int64_t capacity_bytes) {
    struct explanation explanation;
    struct error error;
    const struct explain_request asked = {.log = log, .capacity_bytes = capacity_bytes};
    if (!explanation_make(work, NULL, &asked, &explanation, &error)) return;
    for (size_t i = 0; i < explanation.log.message_count; i++)
        assert(explained_over_bytes(&explanation.items[i]) == OOM_ABSENT ||
               explained_over_bytes(&explanation.items[i]) > 0);
    if (explanation.log.message_count == 0) return;
    write_json(&explanation, &work->arena);
    write_text(&explanation, false, &work->arena);
    write_text(&explanation, true, &work->arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct work work;
    if (size > LOG_BYTES_MAX) return 0;
    work_init(&work, NULL);
    explain(&work, (struct bytes){data, size}, OOM_ABSENT);
    explain(&work, (struct bytes){data, size}, (int64_t)16 << 30);
    work_free(&work);
    return 0;
}
