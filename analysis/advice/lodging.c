#include "analysis/advice/lodging.h"

#include <stdlib.h>

enum { VISITS_MAX = 1 << 24 };

struct stay {  // of a temporary
    uint32_t root, start, end, host_handed_to;
    int64_t bytes;
};

struct taken {
    uint32_t start, end, next;
};

struct room {  // a host as large as it would be
    uint32_t first_taken, host;
    int64_t bytes;
};

struct lodging {
    const struct residents *residents;
    struct stay *stays;
    struct room *rooms;  // by falling size
    uint32_t *room_of_host;
    struct taken *taken;
    uint32_t stay_count, room_count, taken_count;
    int64_t visits;
};

int64_t lodging_host_bytes(const struct residents *residents, const struct host *host, const int64_t *sizes) {
    int64_t whole = residents->module.allocations[host->allocation].size_bytes;
    int64_t before = residents->module.buffers[host->owner].size_bytes, after = sizes[host->owner];
    if (before <= 0 || after == before || whole <= 0) return whole;
    double bytes = (double)whole * ((double)after / (double)before), most = (double)((int64_t)1 << 60);
    return bytes >= most ? (int64_t)1 << 60 : bytes > 0 ? (int64_t)bytes : 0;
}

static int stays_by_falling_size(const void *left, const void *right) {
    const struct stay *a = left, *b = right;
    if (a->bytes != b->bytes) return (a->bytes < b->bytes) - (a->bytes > b->bytes);
    return (a->start > b->start) - (a->start < b->start);
}

static int rooms_by_falling_size(const void *left, const void *right) {
    const struct room *a = left, *b = right;
    if (a->bytes != b->bytes) return (a->bytes < b->bytes) - (a->bytes > b->bytes);
    return (a->host > b->host) - (a->host < b->host);
}

static void take(struct lodging *l, struct room *room, uint32_t start, uint32_t end) {
    l->taken[l->taken_count] = (struct taken){start, end, room->first_taken};
    room->first_taken = l->taken_count++;
}

static bool is_free(struct lodging *l, const struct room *room, const struct stay *stay) {
    for (uint32_t i = room->first_taken; i != HLO_NONE; i = l->taken[i].next) {
        l->visits++;
        if (l->taken[i].start < stay->end && stay->start < l->taken[i].end) return false;
    }
    return true;
}

static void list_stays(struct lodging *l, const struct heap_replay *replay, const struct hlo_module *changed) {
    for (uint32_t i = 0; i < replay->stay_count; i++) {
        const struct heap_stay *stay = &replay->stays[i];
        uint32_t first = l->residents->first_guest;
        int64_t bytes = changed->buffers[stay->root].size_bytes;
        if (bytes <= 0) continue;
        l->stays[l->stay_count++] = (struct stay){
            .root = stay->root,
            .start = stay->start_step,
            .end = stay->end_step,
            .host_handed_to = stay->root < first ? HLO_NONE : l->residents->host_handed_to[stay->root - first],
            .bytes = bytes};
    }
    if (l->stay_count) qsort(l->stays, l->stay_count, sizeof *l->stays, stays_by_falling_size);
}

static void list_rooms(struct lodging *l, const struct heap_replay *replay, const int64_t *sizes) {
    for (uint32_t h = 0; h < l->residents->host_count; h++) {
        const struct host *host = &l->residents->hosts[h];
        struct room room = {HLO_NONE, h, lodging_host_bytes(l->residents, host, sizes)};
        take(l, &room, host->first_step, replay->step_count + 1);
        l->rooms[l->room_count++] = room;
    }
    if (l->room_count) qsort(l->rooms, l->room_count, sizeof *l->rooms, rooms_by_falling_size);
    for (uint32_t r = 0; r < l->room_count; r++) l->room_of_host[l->rooms[r].host] = r;
}

// What an output takes over is there already.
static bool stay_where_handed(struct lodging *l, const struct stay *stay) {
    struct room *room = &l->rooms[l->room_of_host[stay->host_handed_to]];
    if (room->bytes < stay->bytes) return false;
    take(l, room, stay->start, stay->end);
    return true;
}

static uint32_t count_as_large(const struct lodging *l, int64_t bytes) {
    uint32_t low = 0, high = l->room_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (l->rooms[middle].bytes >= bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool find_room(struct lodging *l, const struct stay *stay) {
    for (uint32_t r = count_as_large(l, stay->bytes); r-- > 0 && l->visits < VISITS_MAX;) {
        if (!is_free(l, &l->rooms[r], stay)) continue;
        take(l, &l->rooms[r], stay->start, stay->end);
        return true;
    }
    return false;
}

static void assign(struct lodging *l, struct hlo_module *changed) {
    for (int is_handed = 1; is_handed >= 0; is_handed--) {
        for (uint32_t i = 0; i < l->stay_count; i++) {
            struct stay *stay = &l->stays[i];
            if (changed->buffers[stay->root].size_bytes == 0) continue;
            bool has_room = is_handed ? stay->host_handed_to != HLO_NONE && stay_where_handed(l, stay)
                                      : find_room(l, stay);
            if (has_room) changed->buffers[stay->root].size_bytes = 0;
        }
    }
}

bool lodging_assign(const struct residents *residents, const struct heap_replay *replay, const int64_t *sizes,
                    struct hlo_module *changed, int64_t *visits, struct arena *scratch) {
    struct lodging l = {.residents = residents};
    l.stays = arena_push_raw(scratch, replay->stay_count, sizeof *l.stays);
    l.rooms = arena_push_raw(scratch, residents->host_count, sizeof *l.rooms);
    l.taken = arena_push_raw(scratch, (size_t)replay->stay_count + residents->host_count, sizeof *l.taken);
    l.room_of_host = arena_push_raw(scratch, residents->host_count, sizeof *l.room_of_host);
    if (!l.stays || !l.rooms || !l.taken || !l.room_of_host) return false;
    list_stays(&l, replay, changed);
    list_rooms(&l, replay, sizes);
    assign(&l, changed);
    *visits = l.visits;
    return true;
}
