// The system calls that call_rules.c lets pass or refuses, by what they are for; constant tables. Linux's numbers of
// the machine that is compiled for, so the lists know only the calls that it has.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum call_check { CALL_ALWAYS, CALL_IF_EQUAL, CALL_IF_ANY_BIT, CALL_IF_NO_BITS };

enum { CALL_TESTS_MAX = 2 };

struct call_test {
    enum call_check check;
    unsigned char argument;  // which one is checked, by its low 32 bits
    uint32_t value;
};

struct call_rule {
    unsigned number;
    struct call_test tests[CALL_TESTS_MAX];  // all hold; CALL_ALWAYS ends them
};

struct call_list {
    const struct call_rule *rules;
    size_t count;
};

struct call_list call_list_usual(void);
struct call_list call_list_connecting(void);
struct call_list call_list_keeping(void);
struct call_list call_list_removing(void);

// Asked last: what none of the other lists lets pass.
struct call_list call_list_refused(void);
