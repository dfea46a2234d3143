#include "analysis/advice/pooled.h"

#include "analysis/advice/weight_products.h"

// So few are no block's: on a TPU nothing was seen of several an example.
static double few_rows(const struct advisor *advisor) {
    return (advisor->is_for_gpu ? 16.5 : 1.5) * (double)advisor->roles.batch;
}

struct last_product {
    uint32_t time;
    double rows;
};

static void note_last(struct last_product *last, uint32_t time, double rows) {
    if (time >= last->time) *last = (struct last_product){time, rows};
}

bool pooled_find(const struct advisor *advisor) {
    const double far_fewer = 0.5;
    double most = 0;
    struct last_product few = {0}, many = {0};
    if (!advisor->roles.is_training) return false;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        struct weight_product product;
        if (!weight_product_read(advisor, i, &product) || product.is_in_loop) continue;
        uint32_t time = advisor_time_of(advisor, i);
        double rows = weight_product_rows(advisor, &product);
        if (rows > most) most = rows;
        if (rows > 0 && time != SCHEDULE_NEVER) note_last(rows < few_rows(advisor) ? &few : &many, time, rows);
    }
    return few.rows > 0 && few.time >= many.time && few.rows < far_fewer * most;
}
