#include "server/mcp/mcp_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/refused_memory.h"
#include "server/json_read.h"

// --- What goes out ---

static bool write_all(int fd, const char *text, size_t size) {
    while (size) {
        ssize_t written = write(fd, text, size);
        if (written < 0 && errno != EINTR) return false;
        if (written < 0) continue;
        text += written;
        size -= (size_t)written;
    }
    return true;
}

// Under the lock; takes the line over. False: there was no memory for it, and nothing was sent.
static bool send_line(struct mcp_calls *calls, json_t *line) {
    uint64_t before = memory_refusals();
    char *text = line ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    bool is_whole = text && memory_refusals() == before;  // jansson writes on where a key was refused
    if (is_whole && !(write_all(calls->out, text, strlen(text)) && write_all(calls->out, "\n", 1)))
        calls->is_broken = true;
    json_text_free(text);
    json_decref(line);
    return is_whole;
}

static json_t *answer_line(const json_t *id, const char *key, json_t *value) {
    json_t *own_id = id ? json_deep_copy(id) : json_null();
    return json_pack("{s:s, s:o, s:o}", "jsonrpc", "2.0", "id", own_id, key, value);
}

static json_t *no_memory(void) {
    return json_pack("{s:i, s:s}", "code", MCP_INTERNAL_ERROR, "message", "There is not enough memory to answer.");
}

// Under the lock; takes the value over.
static void send_answer(struct mcp_calls *calls, const json_t *id, const char *key, json_t *value, uint64_t before) {
    json_t *line = answer_line(id, key, value);
    if (memory_refusals() != before) {
        json_decref(line);
        line = NULL;
    }
    if (send_line(calls, line)) return;
    if (!send_line(calls, answer_line(id, "error", no_memory()))) calls->is_broken = true;
}

void mcp_calls_answer(struct mcp_calls *calls, const json_t *id, const char *key, json_t *value, uint64_t before) {
    pthread_mutex_lock(&calls->lock);
    send_answer(calls, id, key, value, before);
    pthread_mutex_unlock(&calls->lock);
}

bool mcp_calls_is_broken(struct mcp_calls *calls) {
    pthread_mutex_lock(&calls->lock);
    bool is_broken = calls->is_broken;
    pthread_mutex_unlock(&calls->lock);
    return is_broken;
}

// --- A call ---

static void end_call(struct mcp_running *one, json_t *result) {
    struct mcp_calls *calls = one->calls;
    uint64_t before = memory_refusals();
    mcp_complete_result(result, one->era, false);
    pthread_mutex_lock(&calls->lock);
    if (one->is_cancelled)
        json_decref(result);
    else
        send_answer(calls, one->message.id, "result", result, before);
    mcp_message_free(&one->message);
    one->is_used = false;
    calls->count--;
    pthread_cond_signal(&calls->changed);
    pthread_mutex_unlock(&calls->lock);
}

static void *run_call(void *context) {
    struct mcp_running *one = context;
    struct arena arena;
    arena_init(&arena, WORK_ARENA_LIMIT_BYTES);
    struct mcp_call call = {.app = one->calls->app, .arena = &arena, .reading = &one->reading};
    json_t *result = mcp_tool_call(one->tool, json_object_get(one->message.params, "arguments"), &call);
    arena_free(&arena);
    end_call(one, result);
    return NULL;
}

static struct mcp_running *free_place(struct mcp_calls *calls) {
    for (size_t i = 0; i < MCP_CALLS_MAX; i++) {
        if (!calls->running[i].is_used) return &calls->running[i];
    }
    return NULL;
}

// A thread that the system refuses (EAGAIN: memory, or its limit) is told as a want of memory, not as too many calls.
static bool start(struct mcp_running *one) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_call, one) != 0) {
        memory_refusals_add(1);
        return false;
    }
    pthread_detach(thread);
    return true;
}

bool mcp_calls_begin(struct mcp_calls *calls, struct mcp_message *message, enum mcp_era era,
                     const struct mcp_tool *tool) {
    pthread_mutex_lock(&calls->lock);
    struct mcp_running *one = free_place(calls);
    if (one) {
        *one = (struct mcp_running){.calls = calls, .message = *message, .era = era, .tool = tool, .is_used = true};
        reading_init(&one->reading);
        one->is_used = start(one);
    }
    bool has_begun = one && one->is_used;
    if (has_begun) calls->count++;
    pthread_mutex_unlock(&calls->lock);
    if (has_begun) *message = (struct mcp_message){.kind = MCP_BAD};
    return has_begun;
}

static void give_up(struct mcp_running *one) {
    one->is_cancelled = true;
    cache_abandon(one->calls->app->cache, &one->reading);
}

void mcp_calls_cancel(struct mcp_calls *calls, const json_t *id) {
    pthread_mutex_lock(&calls->lock);
    for (size_t i = 0; i < MCP_CALLS_MAX; i++) {
        struct mcp_running *one = &calls->running[i];
        if (one->is_used && json_equal(one->message.id, id)) give_up(one);
    }
    pthread_mutex_unlock(&calls->lock);
}

// --- Progress ---

static void tell(struct mcp_running *one, const json_t *token) {
    struct reading_state state = cache_look(one->calls->app->cache, &one->reading);
    uint64_t progress = state.all_bytes + state.listed_names + state.file_count;
    if (progress <= one->told) return;
    one->told = progress;
    const char *slash = strrchr(state.path, '/');
    json_t *own = json_deep_copy(token), *name = json_string(slash ? slash + 1 : state.path);
    (void)send_line(one->calls, json_pack("{s:s, s:s, s:{s:o, s:I, s:o}}", "jsonrpc", "2.0", "method",
                                          "notifications/progress", "params", "progressToken", own, "progress",
                                          (json_int_t)progress, "message", name ? name : json_string("reading")));
}

bool mcp_calls_tell_progress(struct mcp_calls *calls) {
    bool is_any = false;
    pthread_mutex_lock(&calls->lock);
    for (size_t i = 0; i < MCP_CALLS_MAX; i++) {
        struct mcp_running *one = &calls->running[i];
        const json_t *token = one->is_used ? mcp_message_meta(&one->message, "progressToken") : NULL;
        if (!json_is_string(token) && !json_is_integer(token)) continue;
        is_any = true;
        if (!one->is_cancelled) tell(one, token);
    }
    pthread_mutex_unlock(&calls->lock);
    return is_any;
}

// --- All of them ---

bool mcp_calls_init(struct mcp_calls *calls, const struct app *app, int out) {
    *calls = (struct mcp_calls){.app = app, .out = out};
    return pthread_mutex_init(&calls->lock, NULL) == 0 && pthread_cond_init(&calls->changed, NULL) == 0;
}

void mcp_calls_end(struct mcp_calls *calls) {
    pthread_mutex_lock(&calls->lock);
    for (size_t i = 0; i < MCP_CALLS_MAX; i++) {
        if (calls->running[i].is_used) give_up(&calls->running[i]);
    }
    while (calls->count) pthread_cond_wait(&calls->changed, &calls->lock);
    pthread_mutex_unlock(&calls->lock);
    pthread_cond_destroy(&calls->changed);
    pthread_mutex_destroy(&calls->lock);
}
