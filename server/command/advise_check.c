#include "server/command/advise_check.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// --- The command line ---

static void add(struct advise_check *check, char *argument) {
    if (argument && check->count + 1 < ADVISE_CHECK_ARGUMENTS_MAX) check->arguments[check->count++] = argument;
}

static const char *python_named(void) {
    const char *told = getenv("HBMVIEW_PYTHON");
    return told && told[0] ? told : "python3";
}

void advise_check_begin(struct advise_check *check, const char *path, enum advise_checked checked) {
    *check = (struct advise_check){0};
    arena_init(&check->arena, 0);
    add(check, arena_printf(&check->arena, "%s", python_named()));
    add(check, arena_printf(&check->arena, "-m"));
    add(check, arena_printf(&check->arena, "hbmview"));
    add(check, arena_printf(&check->arena, "check"));
    add(check, arena_printf(&check->arena, "%s", path));
    if (checked == ADVISE_CHECK_FLAGS) add(check, arena_printf(&check->arena, "--flags"));
}

void advise_check_add(struct advise_check *check, const char *name, const char *value) {
    if (value) add(check, arena_printf(&check->arena, "--%s=%s", name, value));
}

void advise_check_add_switch(struct advise_check *check, const char *name) {
    add(check, arena_printf(&check->arena, "--%s", name));
}

void advise_check_add_number(struct advise_check *check, const char *name, int64_t number) {
    add(check, arena_printf(&check->arena, "--%s=%" PRId64, name, number));
}

// --- Who is asked ---

// Whether that Python has the package, with this in it. What it says of it is nobody's concern.
static bool has_package(char *python) {
    char option[] = "-c", code[] = "import importlib.util as u, sys; sys.exit(u.find_spec('hbmview._check') is None)";
    char *arguments[] = {python, option, code, NULL};
    posix_spawn_file_actions_t quiet;
    pid_t child;
    int status = -1;
    if (posix_spawn_file_actions_init(&quiet) != 0) return false;
    bool is_started = posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                      posix_spawnp(&child, python, &quiet, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&quiet);
    return is_started && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The package finds this program, and no other that is installed.
static void name_this_program(void) {
    char path[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size <= 0) return;
    path[size] = '\0';
    setenv("HBMVIEW", path, true);
}

enum exit_code advise_check_run(struct advise_check *check) {
    char problem[512];
    char *python = check->arguments[0];
    snprintf(problem, sizeof problem,
             "--check asks the compiler through hbmview's Python package, which %.200s does not have: pip install "
             "hbmview 'jax[tpu]' (no chip is needed), or name another Python by HBMVIEW_PYTHON.",
             python ? python : "python3");
    if (python && has_package(python)) {
        name_this_program();
        execvp(python, check->arguments);
    }
    arena_free(&check->arena);
    return command_complain(EXIT_CODE_UNREADABLE, problem);
}
