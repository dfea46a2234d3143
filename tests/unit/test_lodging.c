// Temporaries that lie in outputs, placed as XLA's BufferAssigner places them: small programs, placed by hand.
#include "analysis/advice/lodging.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { BUFFERS_MAX = 8, HOSTS_MAX = 2, STEPS = 20 };

// Buffers from 0 on are temporaries with a stay each; owners of outputs come after the temporaries.
struct program {
    struct hlo_buffer buffers[BUFFERS_MAX], changed_buffers[BUFFERS_MAX];
    struct hlo_allocation allocations[HOSTS_MAX];
    struct host hosts[HOSTS_MAX];
    uint32_t host_handed_to[BUFFERS_MAX];
    struct heap_stay stays[BUFFERS_MAX];
    int64_t sizes[BUFFERS_MAX];
    struct residents residents;
    struct heap_replay replay;
    struct hlo_module changed;
};

static void start(struct program *p) {
    *p = (struct program){0};
    p->residents.module = (struct hlo_module){.buffers = p->buffers, .allocations = p->allocations};
    p->residents.hosts = p->hosts;
    p->residents.host_handed_to = p->host_handed_to;
    p->residents.first_guest = BUFFERS_MAX;
    p->replay = (struct heap_replay){.step_count = STEPS, .stays = p->stays};
}

static uint32_t buffer(struct program *p, int64_t size) {
    uint32_t number = p->residents.module.buffer_count++;
    p->buffers[number].size_bytes = p->sizes[number] = size;
    return number;
}

static uint32_t temporary(struct program *p, int64_t size, uint32_t from, uint32_t to) {
    uint32_t number = buffer(p, size);
    p->stays[p->replay.stay_count++] = (struct heap_stay){.root = number, .start_step = from, .end_step = to};
    return number;
}

static uint32_t output(struct program *p, int64_t size, uint32_t owned_from) {
    uint32_t number = p->residents.host_count++, owner = buffer(p, size);
    p->allocations[number].size_bytes = size;
    p->hosts[number] = (struct host){.allocation = number, .owner = owner, .first_step = owned_from};
    return owner;
}

static void place(struct program *p) {
    struct arena arena;
    int64_t visits;
    arena_init(&arena, 0);
    p->changed = p->residents.module;
    p->changed.buffers = p->changed_buffers;
    for (uint32_t i = 0; i < p->changed.buffer_count; i++) {
        p->changed_buffers[i] = p->buffers[i];
        p->changed_buffers[i].size_bytes = p->sizes[i];
    }
    assert_true(lodging_assign(&p->residents, &p->replay, p->sizes, &p->changed, &visits, &arena));
    arena_free(&arena);
}

static bool is_on_heap(const struct program *p, uint32_t number) {
    return p->changed_buffers[number].size_bytes > 0;
}

// The picture of lodging.h.
static void the_smallest_output_that_is_free_so_long_takes_it(void **state) {
    (void)state;
    struct program p;
    start(&p);
    output(&p, 96, 9);
    output(&p, 32, 4);
    uint32_t t = temporary(&p, 96, 0, 3), u = temporary(&p, 32, 5, 8), v = temporary(&p, 16, 0, 2);
    uint32_t w = temporary(&p, 32, 2, 12);
    uint32_t later = temporary(&p, 16, 3, 5);  // B is its owner's from 4 on, A is free
    place(&p);
    assert_false(is_on_heap(&p, t));
    assert_false(is_on_heap(&p, u));
    assert_false(is_on_heap(&p, v));
    assert_true(is_on_heap(&p, w));
    assert_false(is_on_heap(&p, later));
}

static void two_that_live_at_once_need_two_outputs(void **state) {
    (void)state;
    struct program p;
    start(&p);
    output(&p, 32, 9);
    uint32_t first = temporary(&p, 32, 1, 5), second = temporary(&p, 32, 4, 8), third = temporary(&p, 32, 5, 9);
    place(&p);
    assert_false(is_on_heap(&p, first));
    assert_true(is_on_heap(&p, second));
    assert_false(is_on_heap(&p, third));
}

static void what_a_change_makes_small_enough_moves_in(void **state) {
    (void)state;
    struct program p;
    start(&p);
    output(&p, 32, 9);
    uint32_t large = temporary(&p, 64, 1, 5);
    place(&p);
    assert_true(is_on_heap(&p, large));
    p.sizes[large] = 32;
    place(&p);
    assert_false(is_on_heap(&p, large));
}

static void a_smaller_output_drives_them_out(void **state) {
    (void)state;
    struct program p;
    start(&p);
    uint32_t owner = output(&p, 32, 9), lodger = temporary(&p, 32, 1, 5);
    p.sizes[owner] = 8;
    assert_int_equal(lodging_host_bytes(&p.residents, &p.hosts[0], p.sizes), 8);
    place(&p);
    assert_true(is_on_heap(&p, lodger));
}

// The largest come first, but what the output takes over is there already.
static void what_an_output_takes_over_stays_with_it(void **state) {
    (void)state;
    struct program p;
    start(&p);
    output(&p, 32, 9);
    uint32_t larger = temporary(&p, 32, 1, 8), taken_over = temporary(&p, 16, 7, 9);
    p.residents.first_guest = taken_over;
    p.host_handed_to[0] = 0;
    place(&p);
    assert_false(is_on_heap(&p, taken_over));
    assert_true(is_on_heap(&p, larger));
}

static void it_stays_with_that_output_and_no_other(void **state) {
    (void)state;
    struct program p;
    start(&p);
    output(&p, 16, 9);
    output(&p, 32, 9);
    uint32_t larger = temporary(&p, 32, 1, 8), same = temporary(&p, 16, 1, 8), taken_over = temporary(&p, 16, 7, 9);
    p.residents.first_guest = taken_over;
    p.host_handed_to[0] = 0;
    place(&p);
    assert_false(is_on_heap(&p, taken_over));
    assert_false(is_on_heap(&p, larger));
    assert_true(is_on_heap(&p, same));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_output_that_is_free_so_long_takes_it),
        cmocka_unit_test(two_that_live_at_once_need_two_outputs),
        cmocka_unit_test(what_a_change_makes_small_enough_moves_in),
        cmocka_unit_test(a_smaller_output_drives_them_out),
        cmocka_unit_test(what_an_output_takes_over_stays_with_it),
        cmocka_unit_test(it_stays_with_that_output_and_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
