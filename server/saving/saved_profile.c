#include "server/saving/saved_profile.h"

#include <stdint.h>
#include <string.h>

#include "server/saving/saved_faults.h"

enum { HOSTS_MAX = 1 << 20 };

struct place {
    const char *session, *host, *memory_id;
    const char *from_ps, *to_ps;  // the axis of all memories
};

#define OF_PLACE(p)                                                                                                    \
    {"session", (p)->session}, {"host", (p)->host}, {                                                                  \
        "memory_id", (p)->memory_id                                                                                    \
    }

// The curve in as many columns as there may be, and so many events: of most profiles all of them.
static bool put_windows(struct saved_page *page, const struct place *place, json_int_t events, struct error *error) {
    struct saved_ask curve = {
        "memory_profile/timeline",
        {OF_PLACE(place), {"from_ps", place->from_ps}, {"to_ps", place->to_ps}, {"buckets", "10000"}, {NULL, NULL}}};
    struct saved_ask rows = {"memory_profile/events", {OF_PLACE(place), {"limit", "10000"}, {NULL, NULL}}};
    if (events > 10000)
        saved_page_leave_out(page, arena_printf(page->arena,
                                                "Of the %lld events of %.100s it holds the curve in 10000 columns.",
                                                (long long)events, place->memory_id));
    return saved_page_add(page, &curve, error) && (events > 10000 || saved_page_add(page, &rows, error));
}

static bool put_memory(struct saved_page *page, const struct place *place, json_int_t events, struct error *error) {
    static const char *const resources[] = {"memory_profile/breakdown", "memory_profile/steps", "memory_profile/ops",
                                            "memory_profile/pressure", "memory_profile/findings"};
    for (size_t i = 0; i < sizeof resources / sizeof resources[0]; i++) {
        struct saved_ask ask = {resources[i], {OF_PLACE(place), {NULL, NULL}}};
        if (!saved_page_add(page, &ask, error)) return false;
    }
    struct saved_ask runs = {"memory_profile/modules",
                             {{"session", place->session}, {"host", place->host}, {NULL, NULL}}};
    return put_windows(page, place, events, error) && saved_page_add(page, &runs, error);
}

static bool is_wanted(const struct saved_view *view, const struct place *place) {
    return (!view->host || strcmp(view->host, place->host) == 0) &&
           (!view->memory_id || strcmp(view->memory_id, place->memory_id) == 0);
}

static json_int_t time_of(const json_t *thing, const char *key) {
    return json_integer_value(json_object_get(thing, key));
}

// As the page's windowOf.
static void find_axis(const struct saved_page *page, const json_t *overview, struct place *place) {
    json_int_t from = INT64_MAX, to = 0;
    size_t i, k;
    json_t *host, *memory;
    json_array_foreach(json_object_get(overview, "hosts"), i, host) {
        json_array_foreach(json_object_get(host, "memories"), k, memory) {
            const json_t *both[] = {host, memory};
            for (int n = 0; n < 2; n++) {
                if (time_of(both[n], "begin_ps") < from) from = time_of(both[n], "begin_ps");
                if (time_of(both[n], "end_ps") > to) to = time_of(both[n], "end_ps");
            }
        }
    }
    place->from_ps = arena_printf(page->arena, "%lld", (long long)from);
    place->to_ps = arena_printf(page->arena, "%lld", (long long)(to > from ? to : from < INT64_MAX ? from + 1 : from));
}

static bool put_memories(struct saved_page *page, const struct saved_view *view, const json_t *overview,
                         struct error *error) {
    size_t i, k, left = 0;
    json_t *host, *memory;
    struct place place = {.session = view->session};
    find_axis(page, overview, &place);
    json_array_foreach(json_object_get(overview, "hosts"), i, host) {
        json_array_foreach(json_object_get(host, "memories"), k, memory) {
            place.host = json_string_value(json_object_get(host, "host"));
            place.memory_id = json_string_value(json_object_get(memory, "memory_id"));
            bool has_room = saved_page_bytes(page) <= SAVED_VIEW_BYTES;
            left += !has_room || !is_wanted(view, &place);
            if (!has_room || !is_wanted(view, &place)) continue;
            if (!put_memory(page, &place, json_integer_value(json_object_get(memory, "events")), error)) return false;
        }
    }
    if (left)
        saved_page_leave_out(page, arena_printf(page->arena, "Of %zu more memories it holds the figures only.", left));
    return true;
}

bool saved_profile_put(struct saved_page *page, const struct saved_view *view, struct error *error) {
    const char *all = arena_printf(page->arena, "%d", HOSTS_MAX);
    struct saved_ask whole = {"memory_profile", {{"session", view->session}, {"load", all}, {NULL, NULL}}};
    struct saved_ask asked = {"memory_profile", {{"session", view->session}, {NULL, NULL}}};
    json_t *overview = saved_page_ask(page, &whole, error);
    saved_faults_tell(page, whole.resource, overview);
    bool is_good = overview && saved_page_keep(page, &asked, NULL, overview, error) &&
                   put_memories(page, view, overview, error);
    json_decref(overview);
    return is_good;
}
