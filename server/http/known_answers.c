#include "server/http/known_answers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/id_map.h"
#include "server/http/kept_reply.h"

struct known_answer {
    const struct route *route;  // NULL: the place is free
    bool is_gzip;
    struct stillness_mark mark;
    const char *content_type;
    char *query;      // as it came
    const char *key;  // behind it
};

struct known_answers {
    struct stillness *stillness;
    pthread_mutex_t lock;
    struct known_answer places[KNOWN_ANSWERS_MAX];
};

struct known_answers *known_answers_new(struct stillness *stillness) {
    struct known_answers *known = calloc(1, sizeof *known);
    if (!known) return NULL;
    known->stillness = stillness;
    pthread_mutex_init(&known->lock, NULL);
    return known;
}

void known_answers_free(struct known_answers *known) {
    if (!known) return;
    for (size_t i = 0; i < KNOWN_ANSWERS_MAX; i++) free(known->places[i].query);
    pthread_mutex_destroy(&known->lock);
    free(known);
}

// --- Places ---

static const char *query_of(const struct request *request) {
    return request->target + strcspn(request->target, "?");
}

static struct known_answer *place_of(struct known_answers *known, const struct route *route, const char *query,
                                     bool is_gzip) {
    uint64_t hash = id_map_mix((uint64_t)id_map_key(bytes_of(query)) ^ (uintptr_t)route ^ is_gzip);
    return &known->places[hash % KNOWN_ANSWERS_MAX];
}

static bool is_of(const struct known_answer *answer, const struct route *route, const char *query, bool is_gzip) {
    return answer->route == route && answer->is_gzip == is_gzip && strcmp(answer->query, query) == 0;
}

static void put(struct known_answer *place, struct known_answer answer, const char *query, const char *key) {
    size_t query_size = strlen(query) + 1, key_size = strlen(key) + 1;
    bool is_short = query_size + key_size <= KNOWN_ANSWER_MAX_BYTES;
    char *texts = is_short ? malloc(query_size + key_size) : NULL;
    if (!texts) return;
    memcpy(texts, query, query_size);
    memcpy(texts + query_size, key, key_size);
    free(place->query);
    *place = answer;
    place->query = texts;
    place->key = texts + query_size;
}

// --- Noting and finding ---

void known_answers_note(struct known_answers *known, const struct request *request, const struct route *route,
                        const struct reply *reply, const struct stillness_mark *mark) {
    if (reply->status != HTTP_OK || !reply->kept_key) return;
    stillness_is_missed(known->stillness);
    if (!mark->generation) return;
    const char *query = query_of(request);
    pthread_mutex_lock(&known->lock);
    struct known_answer *place = place_of(known, route, query, reply->is_gzip);
    if (place->route && is_of(place, route, query, reply->is_gzip) && strcmp(place->key, reply->kept_key) == 0)
        place->mark = *mark;
    else
        put(place, (struct known_answer){route, reply->is_gzip, *mark, reply->content_type, NULL, NULL}, query,
            reply->kept_key);
    pthread_mutex_unlock(&known->lock);
}

// What is known of it, if anything; its key is copied, for the place may be taken.
static struct known_answer look_up(struct known_answers *known, const struct route *route, const char *query,
                                   bool is_gzip, char key[KNOWN_ANSWER_MAX_BYTES]) {
    struct known_answer found = {0};
    pthread_mutex_lock(&known->lock);
    const struct known_answer *place = place_of(known, route, query, is_gzip);
    if (place->route && is_of(place, route, query, is_gzip)) {
        found = *place;
        memcpy(key, place->key, strlen(place->key) + 1);
    }
    pthread_mutex_unlock(&known->lock);
    return found;
}

bool known_answers_find(struct known_answers *known, struct request *request, const struct route *route,
                        struct reply *reply) {
    char key[KNOWN_ANSWER_MAX_BYTES];
    bool is_gzip = request_accepts_gzip(request);
    const struct known_answer found = look_up(known, route, query_of(request), is_gzip, key);
    if (!found.route || !stillness_holds(known->stillness, &found.mark)) return false;
    const char *kept_key = arena_string(&request->work.arena, bytes_of(key));
    return kept_key && kept_reply_again(request, kept_key, found.content_type, is_gzip, reply);
}
