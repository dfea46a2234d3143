#include "server/storage/http_transfer.h"

#include <stdlib.h>
#include <strings.h>

#include "analysis/base/text_scan.h"
#include "server/storage/trusted_certificates.h"

enum { FIRST_ROOM_BYTES = 16 << 10, REDIRECTS_MAX = 5, UNREACHED_TRIES_MAX = 5, OTHER_BODY_BYTES_MAX = 64 << 10 };

// --- What arrives ---

static bool is_good_status(int status) {
    return status >= 200 && status < 300;
}

static int status_of(CURL *easy) {
    long status = 0;
    (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

static bool make_room(struct http_transfer *transfer, size_t needed) {
    size_t room = transfer->body_room ? transfer->body_room : FIRST_ROOM_BYTES;
    while (room < needed) room *= 2;
    if (room == transfer->body_room) return true;
    uint8_t *body = realloc(transfer->body, room);
    if (!body) return false;
    transfer->body = body;
    transfer->body_room = room;
    return true;
}

// libcurl's callback: any other number than `size` ends the transfer.
static size_t take_body(char *data, size_t one, size_t size, void *context) {
    (void)one;
    struct http_transfer *transfer = context;
    bool is_good = is_good_status(status_of(transfer->easy)), is_placed = is_good && transfer->question->to;
    size_t limit = is_good ? transfer->question->limit_bytes : OTHER_BODY_BYTES_MAX;
    transfer->is_too_big = size > limit - transfer->body_size;
    if (transfer->is_too_big && !is_good) return size;  // enough is known of what is wrong
    if (transfer->is_too_big) return 0;
    if (!is_placed && !make_room(transfer, transfer->body_size + size)) {
        transfer->is_out_of_memory = true;
        return 0;
    }
    memcpy((is_placed ? transfer->question->to : transfer->body) + transfer->body_size, data, size);
    transfer->body_size += size;
    if (is_good) reading_adds(transfer->question->reading, size);
    return size;
}

static bool take_header(struct bytes line, const char *name, struct bytes *value) {
    size_t size = strlen(name);
    if (line.size <= size || line.data[size] != ':' || strncasecmp((const char *)line.data, name, size) != 0)
        return false;
    *value = (struct bytes){line.data + size + 1, line.size - size - 1};
    text_skip_spaces(value);
    while (value->size && (value->data[value->size - 1] == '\r' || value->data[value->size - 1] == '\n')) value->size--;
    return true;
}

static void take_retry_after(struct http_transfer *transfer, struct bytes value) {
    int64_t seconds;
    if (text_take_int64(&value, &seconds) && seconds >= 0 && seconds <= 3600)
        transfer->retry_after_s = (uint32_t)seconds;
}

static size_t take_header_line(char *data, size_t one, size_t size, void *context) {
    (void)one;
    struct http_transfer *transfer = context;
    struct http_answer *answer = transfer->answer;
    struct bytes line = {(const uint8_t *)data, size}, value;
    const struct {
        const char *name, **place;
    } kept[] = {{"etag", &answer->etag},
                {"x-goog-generation", &answer->generation},
                {"last-modified", &answer->last_modified},
                {"content-range", &answer->content_range},
                {"location", &answer->location},
                {"x-amz-bucket-region", &answer->region}};
    if (take_header(line, "retry-after", &value)) take_retry_after(transfer, value);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (!take_header(line, kept[i].name, &value)) continue;
        const char *text = arena_string(transfer->arena, value);
        if (text) *kept[i].place = text;
    }
    return size;
}

// --- The handle ---

static bool add_headers(struct http_transfer *transfer) {
    for (size_t i = 0; i < transfer->question->header_count; i++) {
        const struct http_header *header = &transfer->question->headers[i];
        char *line = arena_printf(transfer->arena, "%s: %s", header->name, header->value);
        struct curl_slist *longer = line ? curl_slist_append(transfer->headers, line) : NULL;
        if (!longer) return false;
        transfer->headers = longer;
    }
    return true;
}

static bool set_options(struct http_transfer *transfer) {
    CURL *easy = transfer->easy;
    const struct http_question *question = transfer->question;
    bool is_good = curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
                   curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
                   curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK &&
                   curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer) == CURLE_OK &&
                   curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header_line) == CURLE_OK &&
                   curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer) == CURLE_OK &&
                   curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer) == CURLE_OK &&
                   curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers) == CURLE_OK;
    if (question->when_too_big)
        is_good = is_good &&
                  curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)question->limit_bytes) == CURLE_OK;
    if (question->is_of_machine) is_good = is_good && curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK;
    if (question->body.size)
        is_good = is_good && curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)question->body.size) == CURLE_OK &&
                  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, question->body.data) == CURLE_OK;
    return is_good && curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, question->method) == CURLE_OK;
}

bool http_transfer_begin(struct http_transfer *transfer, const struct http_question *question, struct arena *arena,
                         struct http_answer *answer) {
    *transfer = (struct http_transfer){.question = question, .answer = answer, .arena = arena};
    transfer->easy = curl_easy_init();
    transfer->url = arena_printf(arena, "%s%s%s%s", question->origin, question->path, *question->query ? "?" : "",
                                 question->query);
    return transfer->easy && transfer->url && add_headers(transfer) && set_options(transfer);
}

void http_transfer_reset(struct http_transfer *transfer) {
    transfer->body_size = 0;
    transfer->retry_after_s = 0;
    transfer->is_too_big = transfer->is_out_of_memory = false;
    *transfer->answer = (struct http_answer){
        .etag = "", .generation = "", .last_modified = "", .content_range = "", .location = "", .region = ""};
    (void)curl_easy_setopt(transfer->easy, CURLOPT_URL, transfer->url);
}

void http_transfer_end(struct http_transfer *transfer) {
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    free(transfer->body);
    *transfer = (struct http_transfer){0};
}

// --- The verdict ---

static bool may_pass(int status) {
    return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

static bool is_redirect(const struct http_transfer *transfer, int status) {
    return (status == 301 || status == 302 || status == 303 || status == 307 || status == 308) &&
           *transfer->answer->location && !transfer->question->has_secret;
}

static enum transfer_verdict fail(const struct http_transfer *transfer, enum error_code code, const char *why,
                                  struct error *error) {
    error_in(error, code, transfer->question->about, ERROR_WHOLE_FILE, "%s: %s", transfer->question->origin, why);
    return TRANSFER_FAILED;
}

static enum transfer_verdict keep_answer(struct http_transfer *transfer, int status, struct error *error) {
    struct http_answer *answer = transfer->answer;
    answer->status = status;
    answer->body = (struct bytes){transfer->question->to, transfer->body_size};
    if (transfer->question->to && is_good_status(status)) return TRANSFER_IS_GOOD;
    uint8_t *body = arena_push_raw(transfer->arena, transfer->body_size + 1, 1);
    if (!body) return fail(transfer, ERROR_TOO_BIG, "no memory left for the answer", error);
    if (transfer->body_size) memcpy(body, transfer->body, transfer->body_size);
    answer->body = (struct bytes){body, transfer->body_size};
    return TRANSFER_IS_GOOD;
}

static enum transfer_verdict follow(struct http_transfer *transfer, struct error *error) {
    const char *url = transfer->answer->location;
    bool is_whole = strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;
    if (!is_whole && *url != '/') return fail(transfer, ERROR_UNREADABLE, "it redirects to no address", error);
    if (++transfer->redirects > REDIRECTS_MAX)
        return fail(transfer, ERROR_UNREADABLE, "it redirects without end", error);
    transfer->url = is_whole ? url : arena_printf(transfer->arena, "%s%s", transfer->question->origin, url);
    if (!transfer->url) return fail(transfer, ERROR_TOO_BIG, "no memory left for its address", error);
    transfer->tries = 0;
    return TRANSFER_AGAIN;
}

// Whether asking once more may help.
static bool is_passing(CURLcode result) {
    static const CURLcode passing[] = {CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT,  CURLE_PARTIAL_FILE,
                                       CURLE_OPERATION_TIMEDOUT,   CURLE_GOT_NOTHING,      CURLE_SEND_ERROR,
                                       CURLE_RECV_ERROR,           CURLE_SSL_CONNECT_ERROR};
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        if (result == passing[i]) return true;
    }
    return false;
}

static enum transfer_verdict too_big(const struct http_transfer *transfer, struct error *error) {
    const char *why = transfer->question->when_too_big;
    return why ? fail(transfer, ERROR_TOO_BIG, why, error)
               : fail(transfer, ERROR_MALFORMED, "it sends more than was asked for", error);
}

// A host that no connection reaches is more often a mistake than a moment: that is said soon.
static bool is_given_up(const struct http_transfer *transfer, CURLcode result) {
    return (result == CURLE_COULDNT_RESOLVE_HOST || result == CURLE_COULDNT_CONNECT) &&
           transfer->tries >= UNREACHED_TRIES_MAX;
}

static bool is_distrust(CURLcode result) {
    return result == CURLE_PEER_FAILED_VERIFICATION || result == CURLE_SSL_CACERT_BADFILE;
}

static enum transfer_verdict judge_failure(const struct http_transfer *transfer, CURLcode result, struct error *error) {
    error_in(error, ERROR_UNREADABLE, transfer->question->about, ERROR_WHOLE_FILE, "%s: %s (try %u)%s%s",
             transfer->question->origin, curl_easy_strerror(result), transfer->tries + 1,
             is_distrust(result) ? "; " : "", is_distrust(result) ? trusted_certificates_advice : "");
    return is_passing(result) && !is_given_up(transfer, result) ? TRANSFER_AGAIN : TRANSFER_FAILED;
}

enum transfer_verdict http_transfer_judge(struct http_transfer *transfer, CURLcode result, struct error *error) {
    int status = status_of(transfer->easy);
    if (transfer->is_out_of_memory || result == CURLE_OUT_OF_MEMORY)
        return fail(transfer, ERROR_TOO_BIG, "no memory left for the answer", error);
    if ((transfer->is_too_big && is_good_status(status)) || result == CURLE_FILESIZE_EXCEEDED)
        return too_big(transfer, error);
    if (result != CURLE_OK) return judge_failure(transfer, result, error);
    if (is_redirect(transfer, status)) return follow(transfer, error);
    enum transfer_verdict kept = keep_answer(transfer, status, error);
    return kept == TRANSFER_IS_GOOD && may_pass(status) ? TRANSFER_AGAIN : kept;
}
