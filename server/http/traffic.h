// What the server has answered since it began: counts for those who watch it (metrics.h).
//
//     a reply goes out --> traffic_count --> by family and status: answers
//                                            by family: bytes, seconds, and how many took how long
//
// Streams count when they end, without their time: they last as long as somebody listens. Owns nothing. Thread-safe:
// counters of their own, so that sums of one moment may differ by what is being counted.
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "server/http/reply.h"

enum { TRAFFIC_STATUS_COUNT = 600, TRAFFIC_BUCKET_COUNT = 12 };

extern const uint32_t traffic_bucket_us[TRAFFIC_BUCKET_COUNT];  // an answer in at most so many microseconds

struct traffic_family {
    _Atomic uint64_t answers[TRAFFIC_STATUS_COUNT];
    _Atomic uint64_t bytes;
    _Atomic uint64_t took[TRAFFIC_BUCKET_COUNT + 1];  // each counted once, by the smallest bucket; the last: longer
    _Atomic uint64_t took_us;
};

struct traffic {
    struct traffic_family families[REPLY_FAMILY_COUNT];
    _Atomic uint64_t streams;
};

struct traffic_answer {
    enum reply_family family;
    unsigned status;
    uint64_t bytes, took_us;
    bool is_stream;
};

void traffic_count(struct traffic *traffic, const struct traffic_answer *answer);
