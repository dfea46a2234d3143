#define _GNU_SOURCE  // syscall, CLONE_THREAD
#include "server/sandbox/call_rules.h"

#include <errno.h>

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include "server/sandbox/call_lists.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__
#define THIS_MACHINE AUDIT_ARCH_X86_64
#else
#define THIS_MACHINE AUDIT_ARCH_AARCH64
#endif

// The kernel's program of a filter. Jumps stay within a rule, for they reach 255 instructions; the accumulator holds
// the number of the call between rules.
//
//     is it this call? -no-----------------------> [ next rule ]
//      |yes
//     its argument, is it this? -no-> its number -^
//      |yes (and another one, perhaps)
//     allow, or EPERM
enum { PROGRAM_MAX = 1024 };

struct program {
    struct sock_filter code[PROGRAM_MAX];
    unsigned short size;
    bool is_full;
};

static void emit(struct program *program, struct sock_filter instruction) {
    program->is_full = program->size == PROGRAM_MAX;
    if (!program->is_full) program->code[program->size++] = instruction;
}

static void emit_load(struct program *program, size_t offset) {
    emit(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void emit_end(struct program *program, unsigned action) {
    emit(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

// Goes on when the accumulator `test`s so (BPF_JEQ, BPF_JSET) with the value, else, or the other way round, `skips`.
static void emit_test(struct program *program, unsigned short test, unsigned value, bool wanted, unsigned char skips) {
    unsigned char if_so = wanted ? 0 : skips, if_not = wanted ? skips : 0;
    emit(program, (struct sock_filter)BPF_JUMP((unsigned short)(BPF_JMP | test | BPF_K), value, if_so, if_not));
}

enum { TEST_SIZE = 2, END_SIZE = 1, NUMBER_SIZE = 1 };

// `others` come after it.
static void emit_argument_test(struct program *program, const struct call_test *test, size_t others) {
    size_t low_half = offsetof(struct seccomp_data, args) + test->argument * sizeof(uint64_t);  // little-endian
    emit_load(program, low_half);
    emit_test(program, test->check == CALL_IF_EQUAL ? BPF_JEQ : BPF_JSET, test->value, test->check != CALL_IF_NO_BITS,
              (unsigned char)(others * TEST_SIZE + END_SIZE));
}

static size_t count_tests(const struct call_rule *rule) {
    size_t count = 0;
    while (count < CALL_TESTS_MAX && rule->tests[count].check != CALL_ALWAYS) count++;
    return count;
}

static void emit_rule(struct program *program, const struct call_rule *rule, unsigned action) {
    size_t tests = count_tests(rule), size = tests ? tests * TEST_SIZE + END_SIZE + NUMBER_SIZE : END_SIZE;
    emit_test(program, BPF_JEQ, rule->number, true, (unsigned char)size);
    for (size_t i = 0; i < tests; i++) emit_argument_test(program, &rule->tests[i], tests - 1 - i);
    emit_end(program, action);
    if (tests) emit_load(program, offsetof(struct seccomp_data, nr));
}

static void emit_list(struct program *program, struct call_list list, unsigned action) {
    for (size_t i = 0; i < list.count; i++) emit_rule(program, &list.rules[i], action);
}

static void emit_all(struct program *program, struct call_needs needs) {
    const unsigned refused = SECCOMP_RET_ERRNO | EPERM, absent = SECCOMP_RET_ERRNO | ENOSYS;
    emit_load(program, offsetof(struct seccomp_data, arch));
    emit_test(program, BPF_JEQ, THIS_MACHINE, false, 1);
    emit_end(program, SECCOMP_RET_KILL_PROCESS);
    emit_load(program, offsetof(struct seccomp_data, nr));
    emit_list(program, call_list_usual(), SECCOMP_RET_ALLOW);
    if (needs.connects) emit_list(program, call_list_connecting(), SECCOMP_RET_ALLOW);
    if (needs.keeps_files) emit_list(program, call_list_keeping(), SECCOMP_RET_ALLOW);
    if (needs.keeps_files || needs.removes_files) emit_list(program, call_list_removing(), SECCOMP_RET_ALLOW);
    const struct call_rule to_itself[] = {{SYS_kill, {{CALL_IF_EQUAL, 0, (unsigned)getpid()}}},
                                          {SYS_tgkill, {{CALL_IF_EQUAL, 0, (unsigned)getpid()}}}};
    emit_list(program, (struct call_list){to_itself, sizeof to_itself / sizeof *to_itself}, SECCOMP_RET_ALLOW);
    emit_list(program, call_list_refused(), refused);
    emit_end(program, absent);
}

int call_rules_impose(struct call_needs needs) {
    struct program program = {.size = 0};
    emit_all(&program, needs);
    if (program.is_full) return E2BIG;
    const struct sock_fprog handed = {program.size, program.code};
    // Kernels before 5.16 would slow every load of memory down, for the sake of code that is not ours: there is none.
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &handed) == 0) return 0;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &handed) == 0 ? 0 : errno;
}

#else

int call_rules_impose(struct call_needs needs) {
    (void)needs;
    return ENOSYS;
}

#endif
