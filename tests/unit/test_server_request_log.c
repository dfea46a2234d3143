// The log of requests: who adds a line never waits, and what was left out is told.
#include "tests/unit/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/http/request_log.h"

enum { LINES = 20000, LINE_BYTES = 64 };  // more than the log and a pipe hold

static void add_numbers(struct request_log *log, int count) {
    for (int i = 0; i < count; i++) {
        char line[LINE_BYTES];
        snprintf(line, sizeof line, "%040d", i);
        request_log_add(log, line);
    }
}

static void what_was_added_is_written_before_the_end(void **state) {
    (void)state;
    enum { COUNT = 100 };
    int pipe_ends[2];
    char line[LINE_BYTES];
    assert_int_equal(pipe(pipe_ends), 0);
    struct request_log *log = request_log_new(pipe_ends[1]);
    assert_non_null(log);
    add_numbers(log, COUNT);
    request_log_free(log);
    close(pipe_ends[1]);
    FILE *written = fdopen(pipe_ends[0], "r");
    for (int i = 0; i < COUNT; i++) {
        assert_non_null(fgets(line, sizeof line, written));
        assert_int_equal(strtol(line, NULL, 10), i);
    }
    assert_null(fgets(line, sizeof line, written));
    fclose(written);
}

// Nobody reads until all are added.
static void nobody_waits_for_a_reader(void **state) {
    (void)state;
    int pipe_ends[2];
    char line[LINE_BYTES];
    assert_int_equal(pipe(pipe_ends), 0);
    struct request_log *log = request_log_new(pipe_ends[1]);
    assert_non_null(log);
    add_numbers(log, LINES);
    FILE *written = fdopen(pipe_ends[0], "r");
    int next = 0;
    while (next < LINES) {
        assert_non_null(fgets(line, sizeof line, written));
        int number = (int)strtol(line, NULL, 10);
        if (!strstr(line, "left out")) assert_int_equal(number, next);
        next += strstr(line, "left out") ? number : 1;
    }
    assert_int_equal(next, LINES);
    request_log_free(log);
    close(pipe_ends[1]);
    fclose(written);
}

// Nor does the end of the program.
static void nor_does_its_end(void **state) {
    (void)state;
    int pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    struct request_log *log = request_log_new(pipe_ends[1]);
    assert_non_null(log);
    add_numbers(log, LINES);
    request_log_free(log);  // its thread still writes
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_added_is_written_before_the_end),
        cmocka_unit_test(nobody_waits_for_a_reader),
        cmocka_unit_test(nor_does_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
