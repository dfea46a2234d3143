#include "server/store/kept_looks.h"

#include <pthread.h>
#include <stdlib.h>

enum { ROWS = 4096, ROW_LOOKS = 4 };

struct kept_look {
    struct file_version version;  // unknown: nothing is kept here
    unsigned found;
};

struct row {
    struct kept_look looks[ROW_LOOKS];
    unsigned next;  // the oldest
};

// A look that somebody is at, on the stack of whoever that is.
struct look_under_way {
    const struct file_version *version;
    unsigned found;
    size_t waiters;
    bool is_over;
    struct look_under_way *next;
};

struct table {
    struct kept_looks calls;
    pthread_mutex_t lock;
    pthread_cond_t changed;  // a look is over, or nobody waits for it any more
    struct look_under_way *under_way;
    struct row rows[ROWS];
};

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

static struct row *row_of(struct table *table, const struct file_version *version) {
    uint64_t hash = mix(mix(version->device, version->inode), version->size_bytes);
    hash = mix(mix(hash, (uint64_t)version->modified_s), (uint64_t)version->modified_ns);
    return &table->rows[mix(mix(hash, (uint64_t)version->changed_s), (uint64_t)version->changed_ns) % ROWS];
}

// --- With the lock held ---

static const struct kept_look *kept_of(struct table *table, const struct file_version *version) {
    const struct row *row = row_of(table, version);
    for (size_t i = 0; i < ROW_LOOKS; i++) {
        if (file_version_equal(&row->looks[i].version, version)) return &row->looks[i];
    }
    return NULL;
}

static void keep(struct table *table, const struct look_under_way *look) {
    struct row *row = row_of(table, look->version);
    row->looks[row->next] = (struct kept_look){*look->version, look->found};
    row->next = (row->next + 1) % ROW_LOOKS;
}

static struct look_under_way *under_way_of(const struct table *table, const struct file_version *version) {
    struct look_under_way *look = table->under_way;
    while (look && !file_version_equal(look->version, version)) look = look->next;
    return look;
}

static unsigned wait_for(struct table *table, struct look_under_way *look) {
    look->waiters++;
    while (!look->is_over) pthread_cond_wait(&table->changed, &table->lock);
    unsigned found = look->found;
    if (--look->waiters == 0) pthread_cond_broadcast(&table->changed);
    return found;
}

static void end(struct table *table, struct look_under_way *look) {
    struct look_under_way **link = &table->under_way;
    while (*link != look) link = &(*link)->next;
    *link = look->next;
    look->is_over = true;
    pthread_cond_broadcast(&table->changed);
    while (look->waiters) pthread_cond_wait(&table->changed, &table->lock);
}

static unsigned look_now(struct table *table, const struct file_version *version, kept_looks_look *look,
                         const void *context) {
    struct look_under_way mine = {.version = version, .next = table->under_way};
    bool lasts = false;
    table->under_way = &mine;
    pthread_mutex_unlock(&table->lock);
    mine.found = look(context, &lasts);
    pthread_mutex_lock(&table->lock);
    if (lasts) keep(table, &mine);
    end(table, &mine);
    return mine.found;
}

// --- The whole ---

static unsigned look_once(struct kept_looks *kept, const struct file_version *version, kept_looks_look *look,
                          const void *context) {
    struct table *table = (struct table *)kept;
    pthread_mutex_lock(&table->lock);
    const struct kept_look *known = kept_of(table, version);
    struct look_under_way *same = known ? NULL : under_way_of(table, version);
    unsigned found = known ? known->found : same ? wait_for(table, same) : look_now(table, version, look, context);
    pthread_mutex_unlock(&table->lock);
    return found;
}

struct kept_looks *kept_looks_new(void) {
    struct table *table = calloc(1, sizeof *table);
    if (!table) return NULL;
    table->calls.look = look_once;
    pthread_mutex_init(&table->lock, NULL);
    pthread_cond_init(&table->changed, NULL);
    return &table->calls;
}

void kept_looks_free(struct kept_looks *kept) {
    struct table *table = (struct table *)kept;
    if (!table) return;
    pthread_cond_destroy(&table->changed);
    pthread_mutex_destroy(&table->lock);
    free(table);
}
