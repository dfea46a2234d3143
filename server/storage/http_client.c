#include "server/storage/http_client.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/refused_memory.h"
#include "analysis/base/steady_clock.h"
#include "server/storage/crypto.h"
#include "server/storage/http_transfer.h"

enum { FIRST_WAIT_MS = 100, LONGEST_WAIT_MS = 5000, LONGEST_POLL_MS = 1000, STOPPABLE_POLL_MS = 100 };
enum { PROGRESS_BYTES = 64 << 10 };

// A multi handle with the connections it keeps; lent to one call at a time.
struct line {
    CURLM *multi;
    struct line *next;
};

struct http_client {
    const char *user_agent;
    struct trusted_certificates trusted;
    struct http_patience patience;
    pthread_mutex_t lock;
    struct line *idle;
    atomic_uint_fast64_t requests, body_bytes;
};

// --- Memory: what libcurl is refused counts as ours ---

static void *counted_malloc(size_t size) {
    return memory_or_refusal(malloc(size));
}

static void *counted_realloc(void *block, size_t size) {
    return memory_or_refusal(realloc(block, size));
}

static void *counted_calloc(size_t count, size_t size) {
    return memory_or_refusal(calloc(count, size));
}

static char *counted_strdup(const char *text) {
    return memory_or_refusal(strdup(text));
}

static bool begin_libraries(void) {
    return crypto_begin() && curl_global_init_mem(CURL_GLOBAL_DEFAULT, counted_malloc, free, counted_realloc,
                                                  counted_strdup, counted_calloc) == CURLE_OK;
}

struct http_client *http_client_new(const char *user_agent, struct trusted_certificates trusted,
                                    struct http_patience patience) {
    struct http_client *client = calloc(1, sizeof *client);
    if (!client) return NULL;
    if (!begin_libraries()) {
        free(client);
        return NULL;
    }
    client->user_agent = user_agent;
    client->trusted = trusted;
    client->patience = patience;
    pthread_mutex_init(&client->lock, NULL);
    return client;
}

void http_client_free(struct http_client *client) {
    if (!client) return;
    for (struct line *line = client->idle, *next; line; line = next) {
        next = line->next;
        curl_multi_cleanup(line->multi);
        free(line);
    }
    pthread_mutex_destroy(&client->lock);
    free(client);
    curl_global_cleanup();
}

struct http_traffic http_client_traffic(const struct http_client *client) {
    return (struct http_traffic){atomic_load(&client->requests), atomic_load(&client->body_bytes)};
}

// --- Lines ---

static struct line *new_line(void) {
    struct line *line = calloc(1, sizeof *line);
    if (line) line->multi = curl_multi_init();
    if (line && line->multi) return line;
    free(line);
    return NULL;
}

static struct line *borrow_line(struct http_client *client) {
    pthread_mutex_lock(&client->lock);
    struct line *line = client->idle;
    if (line) client->idle = line->next;
    pthread_mutex_unlock(&client->lock);
    return line ? line : new_line();
}

static void return_line(struct http_client *client, struct line *line) {
    pthread_mutex_lock(&client->lock);
    line->next = client->idle;
    client->idle = line;
    pthread_mutex_unlock(&client->lock);
}

// --- One call ---

struct call {
    struct http_client *client;
    CURLM *multi;
    struct http_transfer *transfers;
    size_t count, done;
    struct reading *reading;  // who waits for all of them
    int64_t deadline_ms;
    size_t arrived_bytes;  // when the deadline was set
    unsigned seed;
};

static bool no_memory(const struct http_question *question, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, question->about, ERROR_WHOLE_FILE, "no memory left to ask for it");
}

// Twice as long each time, and never two callers in step.
static int64_t wait_of(struct call *call, const struct http_transfer *transfer) {
    unsigned doublings = transfer->tries < 8 ? transfer->tries : 8;
    int64_t wait = (int64_t)FIRST_WAIT_MS << doublings;
    if (wait > LONGEST_WAIT_MS) wait = LONGEST_WAIT_MS;
    int64_t asked = (int64_t)transfer->retry_after_s * 1000;
    if (asked > wait) wait = asked;
    call->seed = call->seed * 1664525u + 1013904223u;
    return wait / 2 + wait * (call->seed >> 16) / 65536;
}

// NULL is told as well: what libcurl would take otherwise are places of the machine that built it.
static void trust(CURL *easy, struct trusted_certificates trusted) {
    (void)curl_easy_setopt(easy, CURLOPT_CAINFO, trusted.file);
    (void)curl_easy_setopt(easy, CURLOPT_CAPATH, trusted.folder);
}

static bool start(struct call *call, struct http_transfer *transfer) {
    struct http_patience patience = call->client->patience;
    http_transfer_reset(transfer);
    (void)curl_easy_setopt(transfer->easy, CURLOPT_USERAGENT, call->client->user_agent);
    trust(transfer->easy, call->client->trusted);
    (void)curl_easy_setopt(transfer->easy, CURLOPT_CONNECTTIMEOUT, (long)patience.connect_s);
    (void)curl_easy_setopt(transfer->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    (void)curl_easy_setopt(transfer->easy, CURLOPT_LOW_SPEED_TIME, (long)patience.silence_s);
    transfer->state = TRANSFER_RUNNING;
    atomic_fetch_add(&call->client->requests, 1);
    return curl_multi_add_handle(call->multi, transfer->easy) == CURLM_OK;
}

static bool start_due(struct call *call, int64_t now, struct error *error) {
    for (size_t i = 0; i < call->count; i++) {
        struct http_transfer *transfer = &call->transfers[i];
        bool is_due = transfer->state == TRANSFER_WAITING && transfer->due_ms <= now;
        if (is_due && !start(call, transfer)) return no_memory(transfer->question, error);
    }
    return true;
}

static int poll_ms(const struct call *call, int64_t now) {
    int64_t until = now + (call->reading ? STOPPABLE_POLL_MS : LONGEST_POLL_MS);
    if (call->deadline_ms < until) until = call->deadline_ms;
    for (size_t i = 0; i < call->count; i++) {
        const struct http_transfer *transfer = &call->transfers[i];
        if (transfer->state == TRANSFER_WAITING && transfer->due_ms < until) until = transfer->due_ms;
    }
    return until > now ? (int)(until - now) : 0;
}

// An answer that will not get better in the time that is left is the answer; a failure is one.
static bool give_up(struct call *call, struct http_transfer *transfer, CURLcode result) {
    transfer->state = TRANSFER_DONE;
    call->done++;
    return result == CURLE_OK;
}

// False: the transfer failed for good, and *error says why.
static bool end_try(struct call *call, struct http_transfer *transfer, CURLcode result, struct error *error) {
    (void)curl_multi_remove_handle(call->multi, transfer->easy);
    atomic_fetch_add(&call->client->body_bytes, transfer->body_size);
    enum transfer_verdict verdict = http_transfer_judge(transfer, result, error);
    if (verdict == TRANSFER_FAILED) return false;
    if (verdict == TRANSFER_IS_GOOD) return give_up(call, transfer, CURLE_OK);
    int64_t wait = wait_of(call, transfer), now = steady_ms();
    transfer->tries++;
    if (now + wait >= call->deadline_ms) return give_up(call, transfer, result);
    transfer->state = TRANSFER_WAITING;
    transfer->due_ms = now + wait;
    return true;
}

static bool collect(struct call *call, struct error *error) {
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(call->multi, &left));) {
        char *transfer = NULL;
        if (message->msg != CURLMSG_DONE) continue;
        CURLcode result = message->data.result;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        if (!end_try(call, (struct http_transfer *)(void *)transfer, result, error)) return false;
    }
    return true;
}

static bool is_late(const struct call *call, struct error *error) {
    const struct http_transfer *slow = call->transfers;
    while (slow->state == TRANSFER_DONE) slow++;
    return error_in(error, ERROR_UNREADABLE, slow->question->about, ERROR_WHOLE_FILE, "%s: no answer within %d seconds",
                    slow->question->origin, call->client->patience.deadline_s);
}

// The time is that of an answer which does not come: while much arrives, it begins anew.
static void set_deadline(struct call *call, int64_t now) {
    size_t arrived_bytes = 0;
    for (size_t i = 0; i < call->count; i++) arrived_bytes += call->transfers[i].body_size;
    if (call->deadline_ms && arrived_bytes < call->arrived_bytes + PROGRESS_BYTES) return;
    call->arrived_bytes = arrived_bytes;
    call->deadline_ms = now + (int64_t)call->client->patience.deadline_s * 1000;
}

static bool carry(struct call *call, struct error *error) {
    while (call->done < call->count) {
        int running;
        int64_t now = steady_ms();
        if (!reading_goes_on(call->reading, call->transfers->question->about, error)) return false;
        set_deadline(call, now);
        if (now >= call->deadline_ms) return is_late(call, error);
        if (!start_due(call, now, error)) return false;
        if (curl_multi_perform(call->multi, &running) != CURLM_OK) return no_memory(call->transfers->question, error);
        if (!collect(call, error)) return false;
        if (call->done < call->count) (void)curl_multi_poll(call->multi, NULL, 0, poll_ms(call, steady_ms()), NULL);
    }
    return true;
}

static bool ask(struct call *call, const struct http_question *questions, struct arena *arena,
                struct http_answer *answers, struct error *error) {
    bool is_good = true;
    for (size_t i = 0; i < call->count && is_good; i++) {
        is_good = http_transfer_begin(&call->transfers[i], &questions[i], arena, &answers[i]) ||
                  no_memory(&questions[i], error);
    }
    is_good = is_good && carry(call, error);
    for (size_t i = 0; i < call->count; i++) {
        if (call->transfers[i].state == TRANSFER_RUNNING)
            (void)curl_multi_remove_handle(call->multi, call->transfers[i].easy);
        http_transfer_end(&call->transfers[i]);
    }
    return is_good;
}

bool http_client_ask(struct http_client *client, const struct http_question *questions, size_t count,
                     struct arena *arena, struct http_answer *answers, struct error *error) {
    struct line *line = borrow_line(client);
    struct http_transfer *transfers = arena_new(arena, struct http_transfer, count);
    struct call call = {.client = client, .transfers = transfers, .count = count, .reading = questions->reading};
    call.seed = (unsigned)steady_ms() ^ (unsigned)(uintptr_t)line;
    if (line) call.multi = line->multi;
    bool is_good = line && transfers ? ask(&call, questions, arena, answers, error) : no_memory(questions, error);
    if (line) return_line(client, line);
    return is_good;
}
