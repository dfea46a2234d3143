// One question under way: what has come of its answer, and when it may be asked again.
//
//     waiting (until due) -> running -> done
//          ^ again            |
//          +------------------+
//
// Belongs to http_client.c; knows libcurl's handle of one request, not of many.
#pragma once

#include <curl/curl.h>

#include "analysis/base/error.h"
#include "server/storage/http_message.h"

enum transfer_state { TRANSFER_WAITING, TRANSFER_RUNNING, TRANSFER_DONE };

struct http_transfer {
    const struct http_question *question;
    struct http_answer *answer;
    struct arena *arena;
    CURL *easy;
    struct curl_slist *headers;
    const char *url;
    enum transfer_state state;
    int64_t due_ms;
    unsigned tries, redirects;
    uint8_t *body;
    size_t body_size, body_room;
    uint32_t retry_after_s;
    bool is_too_big, is_out_of_memory;
};

enum transfer_verdict { TRANSFER_IS_GOOD, TRANSFER_AGAIN, TRANSFER_FAILED };

// Makes the handle. False: no memory. http_transfer_end frees what there is in any case.
MUST_USE bool http_transfer_begin(struct http_transfer *transfer, const struct http_question *question,
                                  struct arena *arena, struct http_answer *answer);
void http_transfer_end(struct http_transfer *transfer);

// Forgets what came of the try before.
void http_transfer_reset(struct http_transfer *transfer);

// What became of a try that libcurl ended with `result`. TRANSFER_FAILED: *error says why.
enum transfer_verdict http_transfer_judge(struct http_transfer *transfer, CURLcode result, struct error *error);
