#include "server/http/lobby.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "analysis/base/steady_clock.h"
#include "server/http/lobby_ranks.h"
#include "server/steady_wait.h"

enum { TICK_MS = 500, ADDRESS_BUCKETS = 256 };

struct lobby {
    pthread_mutex_t lock;
    pthread_cond_t wanted;  // the thread
    pthread_t thread;
    void (*on_tick)(void *context);
    void *context;
    size_t guests_max, share, served_max, served_count;
    struct lobby_counts counts;
    struct guest_list lists[GUEST_STATE_COUNT];
    struct lobby_ranks ranks;
    struct lobby_address *addresses[ADDRESS_BUCKETS];
    bool is_over;
};

// --- Addresses (all below: the lock is held, unless said otherwise) ---

static struct lobby_address **address_link(struct lobby *lobby, const struct client_address *of) {
    struct lobby_address **link = &lobby->addresses[client_address_hash(of) % ADDRESS_BUCKETS];
    while (*link && !client_address_is_same(&(*link)->of, of)) link = &(*link)->next;
    return link;
}

static struct lobby_address *find_address(struct lobby *lobby, const struct sockaddr *peer) {
    struct client_address of = client_address_of(peer);
    struct lobby_address **link = address_link(lobby, &of);
    if (*link) return *link;
    *link = calloc(1, sizeof **link);
    if (*link) (*link)->of = of;
    return *link;
}

static void drop_empty_address(struct lobby *lobby, struct lobby_address *address) {
    if (address->here_count) return;
    struct lobby_address **link = address_link(lobby, &address->of);
    *link = address->next;
    free(address);
}

// --- The lists ---

static void count_served(struct lobby *lobby, const struct guest *guest, size_t change) {
    if (guest->state != GUEST_IS_SERVED) return;
    lobby->served_count += change;
    guest->address->served_count += change;
}

static void list_remove(struct guest_list *list, struct guest *guest, enum guest_order of) {
    struct guest *newer = guest->newer[of], *older = guest->older[of];
    *(newer ? &newer->older[of] : &list->newest) = older;
    *(older ? &older->newer[of] : &list->oldest) = newer;
}

static void list_add(struct guest_list *list, struct guest *guest, enum guest_order of) {
    guest->newer[of] = NULL;
    guest->older[of] = list->newest;
    *(list->newest ? &list->newest->newer[of] : &list->oldest) = guest;
    list->newest = guest;
}

// It has no state, and no place, until the next one.
static void leave_state(struct lobby *lobby, struct guest *guest) {
    struct lobby_address *address = guest->address;
    lobby_ranks_remove(address);
    count_served(lobby, guest, (size_t)-1);
    list_remove(&lobby->lists[guest->state], guest, GUEST_OF_ALL);
    list_remove(&address->lists[guest->state], guest, GUEST_OF_ADDRESS);
    address->guest_count--;
    lobby->counts.guests--;
    lobby_ranks_add(&lobby->ranks, address);
}

static void enter_state(struct lobby *lobby, struct guest *guest, enum guest_state state) {
    struct lobby_address *address = guest->address;
    guest->state = state;
    guest->since_ms = steady_ms();
    lobby_ranks_remove(address);
    count_served(lobby, guest, 1);
    list_add(&lobby->lists[state], guest, GUEST_OF_ALL);
    list_add(&address->lists[state], guest, GUEST_OF_ADDRESS);
    address->guest_count++;
    lobby->counts.guests++;
    lobby_ranks_add(&lobby->ranks, address);
}

static void drop(struct lobby *lobby, struct guest *guest) {
    leave_state(lobby, guest);
    guest->is_dropped = true;
    shutdown(guest->socket, SHUT_RDWR);
}

// --- Room ---

static bool make_room(struct lobby *lobby, const struct lobby_address *of) {
    for (enum guest_state state = GUEST_WAITS; state < GUEST_IS_SERVED; state++) {
        struct guest *guest = of->lists[state].oldest;
        if (!guest) continue;
        drop(lobby, guest);
        lobby->counts.dropped_for_room++;
        return true;
    }
    return false;
}

static bool find_room(struct lobby *lobby, const struct lobby_address *address) {
    if (address->guest_count >= lobby->share) return make_room(lobby, address);
    if (lobby->counts.guests < lobby->guests_max) return true;
    const struct lobby_address *most = lobby_ranks_most(&lobby->ranks);
    bool has_more = most && most->guest_count > address->guest_count;
    return make_room(lobby, has_more ? most : address);
}

bool lobby_enter(struct lobby *lobby, struct guest *guest, int socket, const struct sockaddr *peer) {
    *guest = (struct guest){.socket = socket};
    pthread_mutex_lock(&lobby->lock);
    struct lobby_address *address = find_address(lobby, peer);
    bool has_room = address && find_room(lobby, address);
    if (has_room) {
        guest->address = address;
        address->here_count++;
        if (lobby->counts.guests == 0) pthread_cond_signal(&lobby->wanted);
        enter_state(lobby, guest, GUEST_WAITS);
    } else if (address) {
        drop_empty_address(lobby, address);
    }
    pthread_mutex_unlock(&lobby->lock);
    return has_room;
}

void lobby_leave(struct lobby *lobby, struct guest *guest) {
    pthread_mutex_lock(&lobby->lock);
    struct lobby_address *address = guest->address;
    if (!guest->is_dropped) leave_state(lobby, guest);
    address->here_count--;
    drop_empty_address(lobby, address);
    pthread_mutex_unlock(&lobby->lock);
}

static void change_state(struct lobby *lobby, struct guest *guest, enum guest_state state, uint64_t bytes) {
    guest->bytes = bytes;
    if (guest->is_dropped) return;
    leave_state(lobby, guest);
    enter_state(lobby, guest, state);
}

void lobby_now(struct lobby *lobby, struct guest *guest, enum guest_state state, uint64_t bytes) {
    pthread_mutex_lock(&lobby->lock);
    change_state(lobby, guest, state, bytes);
    pthread_mutex_unlock(&lobby->lock);
}

bool lobby_serves(struct lobby *lobby, struct guest *guest) {
    pthread_mutex_lock(&lobby->lock);
    bool may_be = guest->address->served_count < lobby->served_max - lobby->served_count;
    if (may_be) change_state(lobby, guest, GUEST_IS_SERVED, 0);
    pthread_mutex_unlock(&lobby->lock);
    return may_be;
}

void lobby_came(struct lobby *lobby, struct guest *guest, size_t bytes) {
    pthread_mutex_lock(&lobby->lock);
    guest->bytes += bytes;
    pthread_mutex_unlock(&lobby->lock);
}

void lobby_backdate(struct lobby *lobby, struct guest *guest, int64_t by_ms) {
    pthread_mutex_lock(&lobby->lock);
    guest->since_ms -= by_ms;
    pthread_mutex_unlock(&lobby->lock);
}

struct lobby_counts lobby_count(struct lobby *lobby) {
    pthread_mutex_lock(&lobby->lock);
    struct lobby_counts counts = lobby->counts;
    pthread_mutex_unlock(&lobby->lock);
    return counts;
}

// --- Who is late ---

static bool is_late(const struct guest *guest, int64_t waited_ms) {
    uint64_t waited_s = (uint64_t)(waited_ms / 1000);
    switch (guest->state) {
        case GUEST_WAITS:
            return waited_s >= LOBBY_HEAD_SECONDS;
        case GUEST_UPLOADS:
            return waited_s >= LOBBY_BODY_SECONDS && guest->bytes / LOBBY_BODY_BYTES_PER_SECOND < waited_s;
        case GUEST_DOWNLOADS:
            return waited_s >= LOBBY_ANSWER_SECONDS &&
                   waited_s - LOBBY_ANSWER_SECONDS > guest->bytes / LOBBY_ANSWER_BYTES_PER_SECOND;
        case GUEST_LISTENS:
        case GUEST_IS_SERVED:
        case GUEST_STATE_COUNT:
            break;
    }
    return false;
}

// Of those who wait the rest came later still.
static void drop_late_of(struct lobby *lobby, enum guest_state state) {
    for (struct guest *guest = lobby->lists[state].oldest, *newer; guest; guest = newer) {
        newer = guest->newer[GUEST_OF_ALL];
        if (is_late(guest, steady_ms() - guest->since_ms)) {
            drop(lobby, guest);
            lobby->counts.dropped_late++;
        } else if (state == GUEST_WAITS) {
            return;
        }
    }
}

static void wait_a_tick(struct lobby *lobby) {
    (void)steady_wait(&lobby->wanted, &lobby->lock, TICK_MS);
}

// Without the lock.
static void *run(void *context) {
    struct lobby *lobby = context;
    pthread_mutex_lock(&lobby->lock);
    while (!lobby->is_over) {
        if (lobby->counts.guests == 0)
            pthread_cond_wait(&lobby->wanted, &lobby->lock);
        else
            wait_a_tick(lobby);
        for (enum guest_state state = GUEST_WAITS; state < GUEST_IS_SERVED; state++) drop_late_of(lobby, state);
        pthread_mutex_unlock(&lobby->lock);
        lobby->on_tick(lobby->context);
        pthread_mutex_lock(&lobby->lock);
    }
    pthread_mutex_unlock(&lobby->lock);
    return NULL;
}

// --- Beginning and end ---

static struct lobby *begin(struct lobby *lobby) {
    pthread_mutex_init(&lobby->lock, NULL);
    steady_condition_init(&lobby->wanted);
    bool is_good = lobby_ranks_init(&lobby->ranks, lobby->guests_max);
    if (is_good && pthread_create(&lobby->thread, NULL, run, lobby) == 0) return lobby;
    lobby_ranks_free(&lobby->ranks);
    free(lobby);
    return NULL;
}

struct lobby *lobby_new(size_t guests_max, size_t share, void (*on_tick)(void *context), void *context) {
    struct lobby *lobby = calloc(1, sizeof *lobby);
    if (!lobby) return NULL;
    lobby->guests_max = guests_max;
    lobby->share = share;
    lobby->served_max = guests_max * 7 / 8;
    lobby->on_tick = on_tick;
    lobby->context = context;
    return begin(lobby);
}

void lobby_free(struct lobby *lobby) {
    if (!lobby) return;
    pthread_mutex_lock(&lobby->lock);
    lobby->is_over = true;
    pthread_cond_signal(&lobby->wanted);
    pthread_mutex_unlock(&lobby->lock);
    pthread_join(lobby->thread, NULL);
    pthread_cond_destroy(&lobby->wanted);
    pthread_mutex_destroy(&lobby->lock);
    lobby_ranks_free(&lobby->ranks);
    free(lobby);
}
