// What every request may use: made once by the serving command, constant while the server runs. The parts that change
// (the cache, the store, the summaries) lock themselves.
#pragma once

#include <version.h>  // HBMVIEW_VERSION, made from the file VERSION

#include "server/live/check_board.h"
#include "server/live/live.h"
#include "server/store/cache.h"
#include "server/store/module_summaries.h"
#include "server/options.h"
#include "server/store/store.h"

struct access;
struct known_answers;
struct request_log;
struct resident_count;
struct tls_files;
struct guesses;
struct traffic;
struct under_way;
struct reply;
struct request;

struct app {
    void (*answer)(struct request *request, struct reply *reply);  // routes_answer: http.c knows no routes
    // routes_answer_at_once, which waits for nothing; false: it has not answered. NULL: everything is for `answer`.
    bool (*answer_at_once)(struct request *request, struct reply *reply);
    void (*ask_api)(struct request *request, struct reply *reply);  // what the program asks of itself: api_answer
    // routes_let_in; false: the reply says already why not.
    bool (*let_in)(struct request *request, struct reply *reply);
    size_t (*body_limit)(const struct request *request);  // routes_body_limit, asked when the headers are known
    bool (*is_urgent)(const struct request *request);     // routes_is_urgent
    const struct options *options;
    struct cache *cache;
    struct store *store;
    struct module_summaries *summaries;
    struct live *live;            // NULL for what the program asks of itself
    struct check_board *checks;   // the same
    struct under_way *under_way;  // made with the HTTP server; NULL for what the program asks of itself
    struct known_answers *known;  // the same
    const struct access *access;
    const struct tls_files *tls;  // NULL: it does not encrypt
    const struct resident_count *resident;
    struct request_log *log;  // NULL: without --verbose, and for what the program asks of itself
    struct traffic *traffic;
    struct guesses *guesses;
};
