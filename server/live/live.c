#include "server/live/live.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/refused_memory.h"
#include "analysis/base/steady_clock.h"
#include "analysis/input/session_stamp.h"
#include "server/live/event_ring.h"
#include "server/live/event_text.h"
#include "server/live/lookout.h"

enum { EVENT_BYTES_MAX = 1 << 20 };

struct live {
    struct store *store;
    struct lookout lookout;
    uint64_t run;  // of this server: an id of another one means nothing here
    pthread_t worker;
    bool has_looked;
    struct reading reading;         // of what it looks at: for whoever waits for that, and to stop it
    struct work seen;               // pins `catalog`
    const struct catalog *catalog;  // as it was looked at last; NULL before the first look, or where nothing is there
    // The lock is held for what follows.
    pthread_mutex_t lock;
    pthread_cond_t wanted;
    void (*tell)(void *context);  // or NULL
    void *context;
    struct event_ring ring;
    struct live_listener *listeners;
    bool is_stopping;
    bool is_current;  // the thread is at it: what the ring ends with is what there is
    uint64_t stamp;   // of the catalog
    const char *way;
};

struct live_listener {
    struct live *live;
    struct live_listener *next_listener;  // the lock is held for it
    int64_t client;
    uint64_t next;  // the event that it hears next
    unsigned heartbeat_s;
    int64_t heard_ms;
    bool is_greeted, was_lost, has_last_id;
    struct output pending;  // what it was not told yet
    size_t told;
};

// The lock is held.
static void announce(struct live *live) {
    if (live->tell) live->tell(live->context);
}

void live_on_news(struct live *live, void (*tell)(void *context), void *context) {
    pthread_mutex_lock(&live->lock);
    live->tell = tell;
    live->context = context;
    pthread_mutex_unlock(&live->lock);
}

// --- The thread that looks ---

// `news`: NULL where there is no memory for them. What has no words is a gap in the ring, for which whoever comes to it
// is told to ask for the list.
static void add_news(struct live *live, const struct catalog *now, const struct catalog_news *news) {
    struct output text;
    output_init(&text, EVENT_BYTES_MAX);
    pthread_mutex_lock(&live->lock);
    if (news) event_write_news(&text, live->run, event_ring_next(&live->ring), now, news);
    if (text.failed) output_free(&text);
    event_ring_add(&live->ring, (struct event_text){text.data, text.size});
    live->stamp = catalog_stamp(now);
    announce(live);
    pthread_mutex_unlock(&live->lock);
}

static void tell_difference(struct live *live, const struct catalog *now) {
    static const struct catalog nothing = {0};
    struct arena scratch;
    struct catalog_news news;
    arena_init(&scratch, 0);
    bool is_known = catalog_news_find(live->catalog ? live->catalog : &nothing, now, &scratch, &news);
    if (!is_known || catalog_news_any(&news)) add_news(live, now, is_known ? &news : NULL);
    arena_free(&scratch);
}

static void is_looked_at(struct live *live) {
    pthread_mutex_lock(&live->lock);
    live->is_current = true;
    if (live->catalog) live->stamp = catalog_stamp(live->catalog);
    live->way = lookout_way(&live->lookout);
    announce(live);
    pthread_mutex_unlock(&live->lock);
}

// A log directory that cannot be looked at now keeps the list as it was: whoever asks for it is told why.
static void look(struct live *live) {
    struct work work;
    struct error ignored;
    work_init(&work, NULL);
    work.reading = &live->reading;
    lookout_looks(&live->lookout);
    const struct catalog *now = store_catalog(live->store, &work, true, &ignored);
    lookout_looked(&live->lookout, now);
    if (now) {
        if (live->has_looked) tell_difference(live, now);
        work_free(&live->seen);
        live->seen = work;
        live->catalog = now;
    } else {
        work_free(&work);
    }
    live->has_looked = true;
    is_looked_at(live);
}

// False: the server stops. Sleeps while nobody listens.
static bool is_wanted(struct live *live) {
    pthread_mutex_lock(&live->lock);
    if (!live->listeners) live->is_current = false;
    while (!live->listeners && !live->is_stopping) pthread_cond_wait(&live->wanted, &live->lock);
    bool is_wanted = !live->is_stopping;
    pthread_mutex_unlock(&live->lock);
    return is_wanted;
}

static void *run_worker(void *context) {
    struct live *live = context;
    while (is_wanted(live)) {
        look(live);
        bool has_pending = live->catalog && live->catalog->pending_count > 0;
        lookout_wait(&live->lookout, has_pending, -1);
    }
    return NULL;
}

// --- Beginning and end ---

static uint64_t number_of_this_run(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec << 20 ^ (uint64_t)now.tv_nsec << 8 ^ (uint64_t)getpid();
}

struct live *live_new(struct store *store) {
    struct live *live = calloc(1, sizeof *live);
    if (!live) return NULL;
    live->store = store;
    live->run = number_of_this_run();
    pthread_mutex_init(&live->lock, NULL);
    pthread_cond_init(&live->wanted, NULL);
    reading_init(&live->reading);
    work_init(&live->seen, NULL);
    if (lookout_begin(&live->lookout, store_storage(store), store_logdir(store))) {
        live->way = lookout_way(&live->lookout);
        if (pthread_create(&live->worker, NULL, run_worker, live) == 0) return live;
        lookout_end(&live->lookout);
    }
    free(live);
    return NULL;
}

void live_stop(struct live *live) {
    if (!live) return;
    pthread_mutex_lock(&live->lock);
    live->is_stopping = true;
    reading_stop(&live->reading);
    pthread_cond_broadcast(&live->wanted);
    announce(live);
    pthread_mutex_unlock(&live->lock);
    lookout_wake(&live->lookout);
}

void live_free(struct live *live) {
    if (!live) return;
    live_stop(live);
    pthread_join(live->worker, NULL);
    work_free(&live->seen);
    event_ring_free(&live->ring);
    lookout_end(&live->lookout);
    pthread_cond_destroy(&live->wanted);
    pthread_mutex_destroy(&live->lock);
    free(live);
}

// --- Listeners ---

struct places {
    unsigned taken, of_client;
};

// The lock is held.
static struct places count_places(const struct live *live, int64_t client) {
    struct places places = {0};
    for (const struct live_listener *one = live->listeners; one; one = one->next_listener) {
        places.taken++;
        places.of_client += one->client == client;
    }
    return places;
}

static bool take_place(struct live *live, struct live_listener *listener, struct error *error) {
    pthread_mutex_lock(&live->lock);
    struct places places = count_places(live, listener->client);
    bool has_room = !live->is_stopping && places.of_client < LIVE_LISTENERS_MAX - places.taken;
    if (has_room) {
        if (!live->listeners) pthread_cond_signal(&live->wanted);
        listener->next_listener = live->listeners;
        live->listeners = listener;
    }
    pthread_mutex_unlock(&live->lock);
    if (has_room) return true;
    return error_set(error, ERROR_TOO_BIG,
                     "%u listen already, %u of them from your address, which may have no more now: ask "
                     "/api/v1/sessions again.",
                     places.taken, places.of_client);
}

static void leave_place(struct live *live, const struct live_listener *listener) {
    pthread_mutex_lock(&live->lock);
    struct live_listener **link = &live->listeners;
    while (*link != listener) link = &(*link)->next_listener;
    *link = listener->next_listener;
    pthread_mutex_unlock(&live->lock);
}

struct live_listener *live_listen(struct live *live, int64_t client, const char *last_id, unsigned heartbeat_s,
                                  struct error *error) {
    struct live_listener *listener = memory_or_refusal(calloc(1, sizeof *listener));
    if (!listener) {
        error_set(error, ERROR_TOO_BIG, "There is no memory for one more listener.");
        return NULL;
    }
    *listener = (struct live_listener){
        .live = live, .client = client, .heartbeat_s = heartbeat_s, .heard_ms = steady_ms()};
    if (!take_place(live, listener, error)) {
        free(listener);
        return NULL;
    }
    output_init(&listener->pending, EVENT_BYTES_MAX + EVENT_ID_BYTES);
    uint64_t seen;
    listener->has_last_id = last_id && event_id_read(last_id, live->run, &seen);
    listener->was_lost = last_id && !listener->has_last_id;
    if (listener->has_last_id) listener->next = seen + 1;
    return listener;
}

void live_leave(struct live_listener *listener) {
    if (!listener) return;
    leave_place(listener->live, listener);
    output_free(&listener->pending);
    free(listener);
}

// --- What a listener hears (the lock is held) ---

static void greet(struct live_listener *listener) {
    const struct live *live = listener->live;
    bool can_resume = listener->has_last_id && event_ring_reaches_back_to(&live->ring, listener->next - 1);
    struct event_greeting greeting = {
        .is_reload = listener->was_lost || (listener->has_last_id && !can_resume),
        .has_id = !can_resume,
        .run = live->run,
        .number = live->ring.newest,
        .stamp = live->stamp,
        .way = live->way,
        .heartbeat_s = listener->heartbeat_s,
    };
    event_write_greeting(&listener->pending, &greeting);
    if (!can_resume) listener->next = event_ring_next(&live->ring);
    listener->is_greeted = true;
}

// The next event, or the word that it has gone.
static void take_event(struct live_listener *listener) {
    const struct event_text *event = event_ring_find(&listener->live->ring, listener->next);
    if (!event) {
        listener->has_last_id = false;
        listener->was_lost = true;
        return greet(listener);
    }
    output_append(&listener->pending, (struct bytes){(const uint8_t *)event->text, event->size});
    listener->next++;
}

static bool has_news(const struct live_listener *listener) {
    const struct live *live = listener->live;
    return listener->is_greeted ? listener->next <= live->ring.newest : live->is_current;
}

// --- What a listener hears ---

static void hear_more(struct live_listener *listener) {
    struct live *live = listener->live;
    listener->pending.size = listener->told = 0;
    pthread_mutex_lock(&live->lock);
    if (has_news(listener)) {
        if (listener->is_greeted)
            take_event(listener);
        else
            greet(listener);
    }
    pthread_mutex_unlock(&live->lock);
    bool is_silent = steady_ms() - listener->heard_ms >= (int64_t)listener->heartbeat_s * 1000;
    if (!listener->pending.size && is_silent) output_put(&listener->pending, ": nothing new\n\n");
    if (listener->pending.size) listener->heard_ms = steady_ms();
}

static bool is_over(struct live_listener *listener) {
    pthread_mutex_lock(&listener->live->lock);
    bool is_over = listener->live->is_stopping;
    pthread_mutex_unlock(&listener->live->lock);
    return is_over || listener->pending.failed;
}

int64_t live_hear(struct live_listener *listener, char *to, size_t most) {
    if (listener->told == listener->pending.size) hear_more(listener);
    if (is_over(listener)) return -1;
    size_t left = listener->pending.size - listener->told, size = left < most ? left : most;
    if (size) memcpy(to, listener->pending.data + listener->told, size);
    listener->told += size;
    return (int64_t)size;
}
