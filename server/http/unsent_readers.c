#include "server/http/unsent_readers.h"

#include <stdlib.h>
#include <string.h>

enum { SLOW_AGE_MS = 1000 };

// --- What each address has ---

static int compare_body(const struct unsent_answer *a, const struct unsent_answer *b) {
    return (a->body.data > b->body.data) - (a->body.data < b->body.data);
}

static int compare_client(const struct unsent_answer *a, const struct unsent_answer *b) {
    return memcmp(&a->client, &b->client, sizeof a->client);
}

static int by_client(const void *left, const void *right) {
    const struct unsent_answer *const *a = left, *const *b = right;
    int order = compare_client(*a, *b);
    return order ? order : compare_body(*a, *b);
}

// How many of the answers, which are in order, are of the first one's address.
static size_t count_of_client(struct unsent_answer *const *answers, size_t count) {
    size_t of_client = 1;
    while (of_client < count && compare_client(answers[0], answers[of_client]) == 0) of_client++;
    return of_client;
}

// A body that several of the address are sent counts once.
static size_t bytes_of_client(struct unsent_answer *const *answers, size_t count) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_same = i && compare_body(answers[i - 1], answers[i]) == 0;
        bytes += answers[i]->own_bytes + (is_same ? 0 : answers[i]->body.size);
    }
    return bytes;
}

static size_t count_clients(struct unsent_answer *const *answers, size_t count) {
    size_t clients = 0;
    for (size_t i = 0; i < count; i += count_of_client(&answers[i], count - i)) clients++;
    return clients;
}

static void find_modest(struct unsent_answer **answers, size_t count, size_t max_bytes) {
    qsort(answers, count, sizeof(struct unsent_answer *), by_client);
    size_t clients = count_clients(answers, count);
    for (size_t i = 0, of_client; i < count; i += of_client) {
        of_client = count_of_client(&answers[i], count - i);
        bool is_modest = bytes_of_client(&answers[i], of_client) <= max_bytes / clients;
        for (size_t k = 0; k < of_client; k++) answers[i + k]->is_modest = is_modest;
    }
}

// --- Those of one body ---

static int by_body(const void *left, const void *right) {
    const struct unsent_answer *const *a = left, *const *b = right;
    return compare_body(*a, *b);
}

static double share_in_a_second(const struct unsent_answer *answer, int64_t age_ms) {
    return (double)answer->taken / (double)(answer->body.size + 1) / (double)age_ms;
}

static void take_in(struct unsent_readers *readers, const struct unsent_answer *one, int64_t now_ms) {
    int64_t age_ms = now_ms - one->begun_ms;
    bool is_young = age_ms < SLOW_AGE_MS;
    double share = is_young ? 0 : share_in_a_second(one, age_ms);
    if (!readers->count || one->begun_ms < readers->begun_ms) readers->begun_ms = one->begun_ms;
    if (share > readers->share) readers->share = share;
    readers->is_young |= is_young;
    readers->is_modest |= one->is_modest;
    readers->count++;
}

static size_t group(struct unsent_answer **answers, size_t count, int64_t now_ms, struct unsent_readers *readers) {
    size_t bodies = 0;
    qsort(answers, count, sizeof(struct unsent_answer *), by_body);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_body(answers[i], answers[i - 1]))
            readers[bodies++] = (struct unsent_readers){.of_body = &answers[i]};
        take_in(&readers[bodies - 1], answers[i], now_ms);
    }
    return bodies;
}

// --- Their order ---

static int by_share(const void *left, const void *right) {
    const struct unsent_readers *a = left, *b = right;
    if (a->is_modest != b->is_modest) return a->is_modest - b->is_modest;
    if (a->is_young != b->is_young) return a->is_young - b->is_young;
    if (a->share < b->share || a->share > b->share) return a->share > b->share ? 1 : -1;
    return (a->begun_ms > b->begun_ms) - (a->begun_ms < b->begun_ms);
}

size_t unsent_who_makes_room(struct unsent_answer **answers, size_t count, size_t max_bytes, int64_t now_ms,
                             struct unsent_readers *readers) {
    if (count == 0) return 0;
    find_modest(answers, count, max_bytes);
    size_t bodies = group(answers, count, now_ms, readers), may = 0;
    qsort(readers, bodies, sizeof *readers, by_share);
    while (may + 1 < bodies && !readers[may].is_young && !readers[may].is_modest) may++;
    return may;
}
