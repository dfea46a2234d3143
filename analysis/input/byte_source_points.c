#include "analysis/input/byte_source_points.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analysis/base/refused_memory.h"
#include "analysis/base/short_lock.h"

enum {
    MAX_POINTS = 64,
    STATE_BYTES = (32 << 10) + (8 << 10),  // zlib's: a window, and tables
    POINT_BYTES = STATE_BYTES + sizeof(struct byte_source_point) + sizeof(z_stream),
};

struct byte_source_points {
    struct short_lock lock;
    uint64_t spacing_bytes;
    struct content_end end;
    size_t count;
    struct byte_source_point *points[MAX_POINTS];  // in order of the file
};

struct byte_source_points *byte_source_points_new(uint64_t spacing_bytes) {
    static const struct byte_source_points none = {.lock = SHORT_LOCK_FREE};
    struct byte_source_points *points = memory_or_refusal(malloc(sizeof *points));
    if (!points) return NULL;
    memcpy(points, &none, sizeof none);
    points->spacing_bytes = spacing_bytes;
    return points;
}

void byte_source_points_free(struct byte_source_points *points) {
    if (!points) return;
    for (size_t i = 0; i < points->count; i++) byte_source_point_give(points->points[i]);
    free(points);
}

size_t byte_source_points_bytes(struct byte_source_points *points) {
    short_lock_take(&points->lock);
    size_t bytes = sizeof *points + points->count * POINT_BYTES;
    short_lock_give(&points->lock);
    return bytes;
}

// --- The end ---

static bool is_known(const struct content_end *end) {
    return end->is_ended || end->broken.code != ERROR_NONE;
}

void byte_source_points_exchange(struct byte_source_points *points, struct content_end *known) {
    struct content_end *end = &points->end;
    short_lock_take(&points->lock);
    if (is_known(end) && !is_known(known)) {
        *known = *end;
    } else if (is_known(known) && !is_known(end)) {
        *end = *known;
    } else if (!is_known(end)) {
        if (end->furthest < known->furthest) end->furthest = known->furthest;
        known->furthest = end->furthest;
    }
    short_lock_give(&points->lock);
}

// --- Points ---

static struct byte_source_point *point_new(z_stream *state, struct inflated_place at) {
    struct byte_source_point *point = calloc(1, sizeof *point + sizeof(z_stream));
    if (!point) return NULL;
    point->at = at;
    point->state = (z_stream *)(point + 1);
    atomic_init(&point->users, 1);
    if (inflateCopy(point->state, state) == Z_OK) return point;
    free(point);
    return NULL;
}

void byte_source_point_give(struct byte_source_point *point) {
    if (!point || atomic_fetch_sub(&point->users, 1) > 1) return;
    inflateEnd(point->state);
    free(point);
}

static uint64_t way_to(struct inflated_place at) {
    return at.content_at + at.raw_at;
}

// --- All below: the lock is held, unless said otherwise ---

static size_t count_up_to(const struct byte_source_points *points, uint64_t content_at) {
    size_t low = 0, high = points->count;  // points before `low` are at or before it
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (points->points[middle]->at.content_at <= content_at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// How many points lie before that place, which in a stretch without content only the compressed bytes tell.
static size_t count_before(const struct byte_source_points *points, struct inflated_place at) {
    size_t before = count_up_to(points, at.content_at);
    while (before > 0 && way_to(points->points[before - 1]->at) > way_to(at)) before--;
    return before;
}

static bool is_apart(const struct byte_source_points *points, struct inflated_place at) {
    size_t before = count_before(points, at);
    uint64_t way = way_to(at), last = before ? way_to(points->points[before - 1]->at) : 0;
    bool is_before_another = before < points->count;
    return way - last >= points->spacing_bytes &&
           (!is_before_another || way_to(points->points[before]->at) - way >= points->spacing_bytes);
}

// Takes every second point out, into `dropped`.
static size_t thin_out(struct byte_source_points *points, struct byte_source_point **dropped) {
    size_t kept = 0, dropped_count = 0;
    for (size_t i = 0; i < points->count; i++) {
        if (i % 2)
            points->points[kept++] = points->points[i];
        else
            dropped[dropped_count++] = points->points[i];
    }
    points->count = kept;
    points->spacing_bytes *= 2;
    return dropped_count;
}

static void insert(struct byte_source_points *points, struct byte_source_point *point) {
    size_t before = count_before(points, point->at);
    struct byte_source_point **place = points->points + before;
    memmove(place + 1, place, (points->count - before) * sizeof *place);
    *place = point;
    points->count++;
}

// Without the lock.
static bool has_room_at(struct byte_source_points *points, struct inflated_place at, uint64_t *spacing_bytes) {
    short_lock_take(&points->lock);
    bool has_room = is_apart(points, at);
    *spacing_bytes = points->spacing_bytes;
    short_lock_give(&points->lock);
    return has_room;
}

// Without the lock. Somebody else may have left a point there meanwhile.
static void add(struct byte_source_points *points, struct byte_source_point *point) {
    struct byte_source_point *dropped[MAX_POINTS];
    size_t dropped_count = 0;
    short_lock_take(&points->lock);
    if (points->count == MAX_POINTS) dropped_count = thin_out(points, dropped);
    if (is_apart(points, point->at))
        insert(points, point);
    else
        dropped[dropped_count++] = point;
    short_lock_give(&points->lock);
    while (dropped_count) byte_source_point_give(dropped[--dropped_count]);
}

// Without the lock.
uint64_t byte_source_points_save(struct byte_source_points *points, z_stream *state, struct inflated_place at) {
    uint64_t spacing_bytes;
    struct byte_source_point *point = has_room_at(points, at, &spacing_bytes) ? point_new(state, at) : NULL;
    if (point) add(points, point);
    return way_to(at) + spacing_bytes;
}

// Without the lock.
struct byte_source_point *byte_source_points_find(struct byte_source_points *points, uint64_t content_at) {
    short_lock_take(&points->lock);
    size_t count = count_up_to(points, content_at);
    struct byte_source_point *point = count ? points->points[count - 1] : NULL;
    if (point) atomic_fetch_add(&point->users, 1);
    short_lock_give(&points->lock);
    return point;
}
