#include "server/http/traffic.h"

const uint32_t traffic_bucket_us[TRAFFIC_BUCKET_COUNT] = {500,    1000,   5000,    10000,   25000,    50000,
                                                          100000, 250000, 1000000, 2500000, 10000000, 60000000};

static size_t bucket_of(uint64_t took_us) {
    size_t i = 0;
    while (i < TRAFFIC_BUCKET_COUNT && took_us > traffic_bucket_us[i]) i++;
    return i;
}

void traffic_count(struct traffic *traffic, const struct traffic_answer *answer) {
    struct traffic_family *family = &traffic->families[answer->family];
    atomic_fetch_add(&family->answers[answer->status < TRAFFIC_STATUS_COUNT ? answer->status : 0], 1);
    atomic_fetch_add(&family->bytes, answer->bytes);
    if (answer->is_stream) {
        atomic_fetch_add(&traffic->streams, 1);
        return;
    }
    atomic_fetch_add(&family->took[bucket_of(answer->took_us)], 1);
    atomic_fetch_add(&family->took_us, answer->took_us);
}
