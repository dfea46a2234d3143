#include "server/storage/object_service.h"

#include <inttypes.h>

#include "analysis/base/text_scan.h"

enum { QUESTION_ARENA_BYTES = 64 << 10 };

static bool no_memory(const struct object_bucket *bucket, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, bucket->url, ERROR_WHOLE_FILE, "no memory left to ask for it");
}

static bool ask(const struct object_bucket *bucket, struct http_question *questions, size_t count, struct arena *arena,
                struct http_answer *answers, struct error *error) {
    for (size_t i = 0; i < count; i++) {
        if (!bucket->service->sign(bucket, &questions[i], arena, error)) return false;
    }
    if (!http_client_ask(bucket->client, questions, count, arena, answers, error)) return false;
    for (size_t i = 0; i < count; i++) {
        if (answers[i].status < 200 || answers[i].status > 299)
            return bucket->service->refused(bucket, &questions[i], &answers[i], error);
    }
    return true;
}

bool object_list(const struct object_bucket *bucket, const struct page_wanted *wanted, struct reading *reading,
                 struct arena *arena, struct object_page *page, struct error *error) {
    if (bucket->service->list) return bucket->service->list(bucket, reading, arena, page, error);
    struct http_question question = {.method = "GET",
                                     .origin = bucket->origin,
                                     .about = arena_printf(arena, "%s/%s", bucket->url, wanted->prefix),
                                     .limit_bytes = OBJECT_PAGE_BYTES_MAX,
                                     .reading = reading};
    struct http_answer answer;
    if (!question.about || !bucket->service->ask_page(bucket, wanted, arena, &question))
        return no_memory(bucket, error);
    return ask(bucket, &question, 1, arena, &answer, error) &&
           (bucket->service->read_page(answer.body, arena, page, error) || error_in_file(error, question.about, 0));
}

// --- Ranges ---

static bool begin_range(const struct object_bucket *bucket, const struct stored_object *object,
                        const struct object_range *range, struct reading *reading, struct arena *arena,
                        struct http_question *question) {
    *question = (struct http_question){.method = "GET",
                                       .origin = bucket->origin,
                                       .about = arena_printf(arena, "%s/%s", bucket->url, object->name),
                                       .to = range->to,
                                       .limit_bytes = range->size,
                                       .reading = reading};
    const char *value = arena_printf(arena, "bytes=%" PRIu64 "-%" PRIu64, range->offset,
                                     range->offset + range->size - 1);
    return question->about && value && http_question_add(question, "Range", value) &&
           bucket->service->ask_range(bucket, object, arena, question);
}

// "bytes 0-9/100": whether it is what was asked for.
static bool is_range(const char *content_range, const struct object_range *range) {
    struct bytes text = bytes_of(content_range);
    int64_t first, last;
    return text_take(&text, BYTES("bytes ")) && text_take_int64(&text, &first) && text_take(&text, BYTES("-")) &&
           text_take_int64(&text, &last) && (uint64_t)first == range->offset &&
           (uint64_t)last == range->offset + range->size - 1;
}

static bool check_range(const struct http_question *question, const struct object_range *range,
                        const struct http_answer *answer, struct error *error) {
    bool is_whole = answer->status == 200 && range->offset == 0 && answer->body.size == range->size;
    bool is_part = answer->status == 206 && is_range(answer->content_range, range);
    if ((is_whole || is_part) && answer->body.size == range->size) return true;
    return error_in(error, ERROR_MALFORMED, question->about, (int64_t)range->offset,
                    "%s: expected %zu bytes from here, the server sent %zu of \"%.60s\" (status %d)", question->origin,
                    range->size, answer->body.size, answer->content_range, answer->status);
}

static bool is_replaced(const struct http_question *question, struct error *error) {
    return error_in(error, ERROR_UNREADABLE, question->about, ERROR_WHOLE_FILE,
                    "the object was replaced while it was read; try again");
}

static bool read_ranges(const struct object_bucket *bucket, const struct stored_object *object,
                        const struct object_range *ranges, size_t count, struct reading *reading, struct arena *arena,
                        struct error *error) {
    struct http_question *questions = arena_new(arena, struct http_question, count);
    struct http_answer *answers = arena_new(arena, struct http_answer, count);
    if (!questions || !answers) return no_memory(bucket, error);
    for (size_t i = 0; i < count; i++) {
        if (!begin_range(bucket, object, &ranges[i], reading, arena, &questions[i])) return no_memory(bucket, error);
    }
    if (!ask(bucket, questions, count, arena, answers, error)) return false;
    for (size_t i = 0; i < count; i++) {
        bool is_version = !bucket->service->is_version || bucket->service->is_version(object, &answers[i]);
        if (!is_version) return is_replaced(&questions[i], error);
        if (!check_range(&questions[i], &ranges[i], &answers[i], error)) return false;
    }
    return true;
}

bool object_read(const struct object_bucket *bucket, const struct stored_object *object,
                 const struct object_range *ranges, size_t count, struct reading *reading, struct error *error) {
    struct arena arena;
    size_t kept = 0;
    while (kept < count && bucket->service->copy_kept && bucket->service->copy_kept(bucket, object, &ranges[kept]))
        kept++;
    ranges += kept;
    count -= kept;
    arena_init(&arena, QUESTION_ARENA_BYTES * count);
    bool is_good = count == 0 || read_ranges(bucket, object, ranges, count, reading, &arena, error);
    arena_free(&arena);
    return is_good;
}
