#include "analysis/advice/pooled.h"

#include "analysis/advice/weight_products.h"
#include "analysis/program/schedule.h"

// What is inside of a fusion happens when the fusion does.
static uint32_t time_of(const struct advisor *advisor, const struct schedule *schedule, uint32_t node) {
    enum { NESTED_MAX = 16 };
    for (int depth = 0; node != HLO_NONE && depth < NESTED_MAX; depth++) {
        if (schedule->time_of_node[node] != SCHEDULE_NEVER) return schedule->time_of_node[node];
        node = advisor->caller[advisor->graph.nodes[node].computation];
    }
    return SCHEDULE_NEVER;
}

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

bool pooled_find(struct advisor *advisor, struct pooled *pooled) {
    const double far_fewer = 0.5;
    struct schedule schedule;
    double most = 0;
    struct last_product few = {0}, many = {0};
    *pooled = (struct pooled){0};
    if (!advisor->roles.is_training) return true;
    if (!schedule_read(&advisor->graph, advisor->arena, &schedule))
        return error_set(advisor->error, ERROR_TOO_BIG, "no memory left for the order of the products");
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        struct weight_product product;
        if (!weight_product_read(advisor, i, &product) || product.is_in_loop) continue;
        uint32_t time = time_of(advisor, &schedule, i);
        double rows = weight_product_rows(advisor, &product);
        if (rows > most) most = rows;
        if (rows > 0 && time != SCHEDULE_NEVER) note_last(rows < few_rows(advisor) ? &few : &many, time, rows);
    }
    pooled->is_pooled = few.rows > 0 && few.time >= many.time && few.rows < far_fewer * most;
    pooled->block_rows = many.rows;
    return true;
}
