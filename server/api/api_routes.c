#include "server/api/api_routes.h"

#include "analysis/base/refused_memory.h"
#include "server/api/api.h"
#include "server/api/api_answers.h"
#include "server/live/check_board.h"

#define WORDS_AND_BODY(...) (&(const struct route_words){__VA_ARGS__})
#define WORDS(...) WORDS_AND_BODY(__VA_ARGS__, NULL)

static const struct route rows[] = {
    {"/api/v1/sessions", REPLY_API, api_sessions, ROUTE_GET,
     WORDS("", ANSWER_SESSIONS, "application/json", "The sessions of the log directory, looked for anew.")},
    {"/api/v1/session", REPLY_API, api_session, ROUTE_GET,
     WORDS("session!", ANSWER_SESSION, "application/json",
           "One session at a glance: its devices, and which tools have something to show.")},
    {"/api/v1/events", REPLY_API, api_events, ROUTE_GET,
     WORDS("heartbeat last_event_id", "", "text/event-stream", "What is new in the log directory while it happens.")},
    {"/api/v1/modules", REPLY_API, api_modules, ROUTE_GET,
     WORDS("session! since", ANSWER_MODULES, "application/json", "The programs of a session, of all its hosts.")},
    {"/api/v1/memory_view", REPLY_API, api_memory_view, ROUTE_GET,
     WORDS("session! module! host memory_space delta", ANSWER_MEMORY_VIEW, "application/json",
           "One memory space of one program: every buffer, and the live bytes at every step.")},
    {"/api/v1/memory_view/overview", REPLY_API, api_memory_overview, ROUTE_GET,
     WORDS("session! module! host memory_space columns", ANSWER_MEMORY_VIEW_OVERVIEW, "application/json",
           "What a page can paint of it first.")},
    {"/api/v1/memory_view/groups", REPLY_API, api_memory_groups, ROUTE_GET,
     WORDS("session! module! host memory_space by step weight frameworks", ANSWER_MEMORY_VIEW_GROUPS,
           "application/json", "Who holds the memory at a step.")},
    {"/api/v1/memory_view/groups/rows", REPLY_API, api_memory_group_rows, ROUTE_GET,
     WORDS("session! module! host memory_space by frameworks", ANSWER_MEMORY_VIEW_GROUPS_ROWS, "application/json",
           "Which group each buffer belongs to.")},
    {"/api/v1/diff", REPLY_API, api_diff, ROUTE_GET,
     WORDS("session! module! host session_b module_b host_b memory_space by top frameworks", ANSWER_DIFF,
           "application/json", "What changed from one program to another at their peaks.")},
    {"/api/v1/buffer", REPLY_API, api_buffer, ROUTE_GET,
     WORDS("session! module! logical_buffer_id! host memory_space", ANSWER_BUFFER, "application/json",
           "Everything about one buffer.")},
    {"/api/v1/buffer/hlo", REPLY_API, api_buffer_hlo, ROUTE_GET,
     WORDS("session! module! logical_buffer_id! host memory_space", ANSWER_BUFFER_HLO, "application/json",
           "The program around the operation that makes a buffer.")},
    {"/api/v1/buffers", REPLY_API, api_buffers, ROUTE_GET,
     WORDS("session! module! host memory_space limit", ANSWER_BUFFERS, "application/json",
           "The details of many buffers, the largest first.")},
    {"/api/v1/advise", REPLY_API, api_advise, ROUTE_GET,
     WORDS("session! module! host memory_space capacity ways batch sequence", ANSWER_ADVISE, "application/json",
           "What to change so that a program needs less memory, and what each change would bring.")},
    {"/api/v1/check", REPLY_API, api_check, ROUTE_GET,
     WORDS("session! module!", ANSWER_CHECK, "application/json",
           "How far a check of the advice against the compiler is, which runs elsewhere.")},
    {"/api/v1/check/progress", REPLY_API, api_check_progress, CHECK_TEXT_MAX_BYTES,
     WORDS_AND_BODY("session! module!", ANSWER_CHECK_PROGRESS, "application/json",
                    "Keeps what such a check tells, for the page to show.", CHECK_PROGRESS)},
    {"/api/v1/memory_profile", REPLY_API, api_profile_overview, ROUTE_GET,
     WORDS("session! host load first", ANSWER_MEMORY_PROFILE, "application/json",
           "What the allocators of each host did: all hosts and memories at a glance.")},
    {"/api/v1/memory_profile/across", REPLY_API, api_profile_across, ROUTE_GET,
     WORDS("session! host", ANSWER_MEMORY_PROFILE_ACROSS, "application/json",
           "The memories of all hosts side by side, and which differ.")},
    {"/api/v1/memory_profile/findings", REPLY_API, api_profile_findings, ROUTE_GET,
     WORDS("session! host memory_id", ANSWER_MEMORY_PROFILE_FINDINGS, "application/json",
           "What to know first of one memory.")},
    {"/api/v1/memory_profile/timeline", REPLY_API, api_profile_timeline, ROUTE_GET,
     WORDS("session! host memory_id from_ps to_ps buckets", ANSWER_MEMORY_PROFILE_TIMELINE, "application/json",
           "The memory over time, at any zoom.")},
    {"/api/v1/memory_profile/events", REPLY_API, api_profile_events, ROUTE_GET,
     WORDS("session! host memory_id from_ps to_ps offset limit row only", ANSWER_MEMORY_PROFILE_EVENTS,
           "application/json", "Allocations and frees, in order of time.")},
    {"/api/v1/memory_profile/modules", REPLY_API, api_profile_modules, ROUTE_GET,
     WORDS("session! host", ANSWER_MEMORY_PROFILE_MODULES, "application/json", "When the programs of a host ran.")},
    {"/api/v1/memory_profile/breakdown", REPLY_API, api_profile_breakdown, ROUTE_GET,
     WORDS("session! host memory_id row time_ps", ANSWER_MEMORY_PROFILE_BREAKDOWN, "application/json",
           "Who holds the memory at an event.")},
    {"/api/v1/memory_profile/ops", REPLY_API, api_profile_ops, ROUTE_GET,
     WORDS("session! host memory_id", ANSWER_MEMORY_PROFILE_OPS, "application/json", "What each operation allocates.")},
    {"/api/v1/memory_profile/steps", REPLY_API, api_profile_steps, ROUTE_GET,
     WORDS("session! host memory_id", ANSWER_MEMORY_PROFILE_STEPS, "application/json",
           "The steps, and what grows from one to the next.")},
    {"/api/v1/memory_profile/held", REPLY_API, api_profile_held, ROUTE_GET,
     WORDS("session! host memory_id op offset limit", ANSWER_MEMORY_PROFILE_HELD, "application/json",
           "The allocations that are never freed.")},
    {"/api/v1/memory_profile/pressure", REPLY_API, api_profile_pressure, ROUTE_GET,
     WORDS("session! host memory_id", ANSWER_MEMORY_PROFILE_PRESSURE, "application/json",
           "Where memory was tight, and what no longer fits.")},
    {"/api/v1/trend", REPLY_API, api_trend, ROUTE_GET,
     WORDS("tool module memory_id host memory_space by limit top frameworks", ANSWER_TREND, "application/json",
           "One program, or memory, over all sessions.")},
    {"/api/v1/device_memory", REPLY_API, api_device_memory, ROUTE_GET,
     WORDS("session!", ANSWER_DEVICE_MEMORY, "application/json", "The device memory profiles of a session.")},
    {"/api/v1/device_memory/across", REPLY_API, api_device_memory_across, ROUTE_GET,
     WORDS("session!", ANSWER_MEMORY_PROFILE_ACROSS, "application/json",
           "The device memory profiles of all hosts side by side.")},
    {"/api/v1/device_memory/profile", REPLY_API, api_device_memory_profile, ROUTE_GET,
     WORDS("session! file frames", ANSWER_DEVICE_MEMORY_PROFILE, "application/json",
           "Who holds device memory, by stack.")},
    {"/api/v1/explain", REPLY_API, api_explain, EXPLAIN_BODY_LIMIT_BYTES,
     WORDS("session prefer module capacity", ANSWER_EXPLAIN, "application/json",
           "Explains the out-of-memory messages of a log, joined to the program that they are about.")},
    {"/api/v1/save", REPLY_API, api_save, SAVE_BODY_LIMIT_BYTES,
     WORDS("run tag module_name host memory_id memory_space file run_b module_b host_b capacity", "", "text/html",
           "A view as one .html file.")},
    {"/api/v1/devices", REPLY_API, api_devices, ROUTE_GET,
     WORDS("", ANSWER_DEVICES, "application/json", "What devices have, by the names that a capacity may be given by.")},
    {"/api/v1/server", REPLY_API, api_server, ROUTE_GET,
     WORDS("", ANSWER_SERVER, "application/json", "What serves, and where its page is.")},
    {"/api/v1/work", REPLY_API, api_work, ROUTE_GET,
     WORDS("", ANSWER_WORK, "application/json", "The requests that are being answered.")},
    {"/api/v1/openapi.json", REPLY_API, api_openapi, ROUTE_GET,
     WORDS("", "{openapi: s}", "application/json", "This document.")},
};

const struct routes api_routes = {rows, sizeof rows / sizeof rows[0]};

void api_answer(struct request *request, struct reply *reply) {
    struct error error;
    uint64_t before = memory_refusals();
    const struct route *route = route_find(api_routes, request->path);
    request->takes = route && route->words ? route->words->takes : NULL;
    bool is_good = route ? route->handler(request, reply, &error) : api_unknown(request, reply, &error);
    reply_settle(request, reply, REPLY_API, is_good, before, &error);
}

bool api_unknown(struct request *request, struct reply *reply, struct error *error) {
    (void)reply;
    return error_set(error, ERROR_NOT_FOUND, "There is no such endpoint: %.200s", request->path);
}
