// Any bytes as a log: what is explained of it is JSON, and its text and Markdown get to the end: without a log
// directory, and with one that holds a program which a message may be about.
//
//     make fuzz T=server_explain
#include <assert.h>
#include <jansson.h>

#include "server/document/explain_document.h"

enum { OUTPUT_BYTES = 64 << 20, LOG_BYTES_MAX = 1 << 16, CACHE_BYTES = 64 << 20 };

static const char LOGDIR[] = "tests/fixtures/logdir/plugins/profile/v5e_readme_oom";

// What every log is explained from: read once, and kept until the end.
static struct store *store;
static struct cache *cache;

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

static void open_once(void) {
    if (store) return;
    const struct storage_settings settings = storage_settings_usual();
    store = store_new(LOGDIR, &settings);
    cache = cache_new(CACHE_BYTES, 1);
    assert(store && cache);
}

static void explain_for(struct work *work, struct bytes log, struct store *from, int64_t capacity_bytes) {
    struct explanation explanation;
    struct error error;
    const struct explain_request asked = {.log = log, .capacity_bytes = capacity_bytes};
    if (!explanation_make(work, from, &asked, &explanation, &error)) return;
    for (size_t i = 0; i < explanation.log.message_count; i++)
        assert(explained_over_bytes(&explanation.items[i]) == OOM_ABSENT ||
               explained_over_bytes(&explanation.items[i]) > 0);
    if (explanation.log.message_count == 0) return;
    write_json(&explanation, &work->arena);
    write_text(&explanation, false, &work->arena);
    write_text(&explanation, true, &work->arena);
}

static void explain(struct bytes log, struct store *from, int64_t capacity_bytes) {
    struct work work;
    work_init(&work, cache);
    explain_for(&work, log, from, capacity_bytes);
    work_free(&work);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct bytes log = {data, size};
    if (size > LOG_BYTES_MAX) return 0;
    open_once();
    explain(log, NULL, OOM_ABSENT);
    explain(log, store, OOM_ABSENT);
    explain(log, store, (int64_t)16 << 30);
    return 0;
}
