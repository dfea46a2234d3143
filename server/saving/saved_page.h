// A view as one file: the page's code and the replies that it asks for, so that it opens from disk, without a server.
//
//     saved_ask -> app->ask_api -> reply -> gzip, base64 -.
//     sessions, modules of this view alone ---------------+--> saved.html (build-page.mjs), in place of its marker:
//
//         <script type="application/json" id="saved">   what the page holds: "replies" is a list of resource and query
//         <script type="text/plain" class="saved">      the body of each of them
//
// Names from a profile stand in JSON only, where every "<" is escaped, so none can end an element; bodies are base64.
// web/js/saved/ reads it. Lives on the work's arena; free what it wrote.
#pragma once

#include <jansson.h>

#include "server/http/request.h"
#include "server/text/json_writer.h"

enum { SAVED_QUERY_MAX = 12 };

struct saved_ask {
    const char *resource;                            // "memory_view/overview"
    struct request_argument query[SAVED_QUERY_MAX];  // ended by a name that is NULL; values that are NULL are left out
};

// "memory_view/groups?by=source" as an ask, on the arena. False: it is none.
MUST_USE bool saved_ask_read(struct arena *arena, const char *address, struct saved_ask *ask);

struct saved_page {
    const struct app *app;
    struct arena *arena;
    struct reading *reading;  // of whoever waits for the page
    struct output replies;    // the list, as JSON
    struct output bodies;
    struct json_writer *list;
    struct saved_ask *held;  // what the replies answer
    size_t held_count;
    const char *address;     // that it opens with; NULL: the one it was asked for with
    const char *log;         // the text that an explanation is of; NULL
    const char *other_tool;  // that it holds something for, beside the view's own; NULL
    const char **left_out;   // sentences: what the page does not hold, for want of room
    size_t left_out_count;
    const char **missed;  // and what it does not hold because it could not be read
    size_t missed_count;
};

MUST_USE bool saved_page_begin(struct saved_page *page, const struct app *app, struct work *work, struct error *error);
void saved_page_free(struct saved_page *page);

// The API's answer, for json_decref. NULL: *error is filled, with the API's own sentence.
MUST_USE json_t *saved_page_ask(struct saved_page *page, const struct saved_ask *ask, struct error *error);

// The same of a POST with this body.
MUST_USE json_t *saved_page_post(struct saved_page *page, const struct saved_ask *ask, struct bytes body,
                                 struct error *error);

// Keeps `body` as what answers `ask`. With `each` it holds many answers: those to its values of that key.
MUST_USE bool saved_page_keep(struct saved_page *page, const struct saved_ask *ask, const char *each,
                              const json_t *body, struct error *error);

// Asks and keeps in one. An answer that the view can do without: where there is none the page has none, and says so
// unless there is no such thing (ERROR_NOT_FOUND, ERROR_BAD_REQUEST). False without memory.
MUST_USE bool saved_page_add(struct saved_page *page, const struct saved_ask *ask, struct error *error);

// Whether a reply that it holds answers this, as the page's find_reply.js finds it.
bool saved_page_holds(const struct saved_page *page, const struct saved_ask *ask);

// How much it holds.
size_t saved_page_bytes(const struct saved_page *page);

// A sentence of what it does not hold: for want of room; because it could not be read.
void saved_page_leave_out(struct saved_page *page, const char *sentence);
void saved_page_miss(struct saved_page *page, const char *sentence);

// That the page has no answer to this, for that reason, unless there is no such thing. False without memory.
MUST_USE bool saved_page_do_without(struct saved_page *page, const struct saved_ask *ask, const struct error *reason);

// Writes the file. `address` is the query that it opens with ("?run=..."), `tools` are ended by NULL.
MUST_USE bool saved_page_write(struct saved_page *page, const char *address, const char *const tools[],
                               struct output *output, struct error *error);
