// What the program asks of its own API, without a connection: for saved pages, and for agents (server/mcp).
//
//     inner_question ──> app->ask_api ──> inner_answer: request and reply    ──> inner_answer_free
//                                     ──> inner_ask_json: the same as a document
//
// The same handlers answer as over HTTP, from the same cache; so whoever asks sees what a client would see, and can
// open nothing that a client could not. Nothing is encoded, tagged or gzipped on the way.
#pragma once

#include <jansson.h>

#include "server/http/reply.h"

struct inner_question {
    const char *resource;                  // "memory_view/overview"
    const struct request_argument *query;  // ended by a name that is NULL; values that are NULL are left out
    struct bytes body;                     // of a POST; empty: a GET
    struct reading *reading;               // of whoever waits for the answer; NULL: nobody
};

struct inner_answer {
    struct request request;
    struct reply reply;  // lives as long as the request's work
};

// Whether the status is 200. Free the answer in either case.
bool inner_ask(const struct app *app, const struct inner_question *question, struct inner_answer *answer);
void inner_answer_free(struct inner_answer *answer);

// Why there is no answer, by what it says itself.
void inner_answer_refusal(const struct inner_answer *answer, struct error *error);

// The answer as a document, for json_decref. NULL: *error is filled, with the API's own sentence.
MUST_USE json_t *inner_ask_json(const struct app *app, const struct inner_question *question, struct error *error);
