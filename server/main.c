// hbmview: see server/options.c for its words, ARCHITECTURE.md for its parts.
//
// Finds the command and runs it. Without a command's name: serve.
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/refused_memory.h"
#include "server/command/command.h"
#include "server/serve.h"
#include "server/json_read.h"

// Many threads load and answer, and glibc would keep a pool of freed memory for each: so there are two. Blocks of a
// MiB and more are pages of their own and go back when they are freed. In a pool, what is small and lives long would
// come to lie between them, and hold memory for hundreds of MiB after some hours.
static void tune_memory(void) {
#ifdef __GLIBC__
    enum { POOLS_MAX = 2, OWN_PAGES_BYTES = 1 << 20, KEPT_FREE_BYTES = 8 << 20 };
    mallopt(M_ARENA_MAX, POOLS_MAX);
    mallopt(M_MMAP_THRESHOLD, OWN_PAGES_BYTES);
    mallopt(M_TRIM_THRESHOLD, KEPT_FREE_BYTES);
#endif
}

// Without standard input, output or errors (`hbmview >&-`) their numbers would go to what is opened next, a profile or
// a client, and what is printed there with them. What is opened in their place lets itself be read, or written, as
// little as nothing would: it stays an error.
static bool hold_standard_streams(void) {
    static const int ways[] = {[STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_RDONLY};
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        bool is_open = fcntl(stream, F_GETFD) != -1 || open("/dev/null", ways[stream]) == stream;
        if (!is_open) return false;
    }
    return true;
}

static const struct {
    const char *name;
    enum exit_code (*run)(int count, char *const arguments[]);  // without the names of program and command
} commands[] = {
    {"serve", serve_run},
    {"report", report_run},
    {"explain", explain_run},
    {"advise", advise_run},
    {"diff", diff_run},
    {"watch", watch_run},
    {"mcp", mcp_run},
    {"get_memory_profile", get_memory_profile_run},
    {"get_peak_allocations", get_peak_allocations_run},
};

// What the man page and the shells' completions are made of.
static enum exit_code list_commands(void) {
    char listing[] = FLAGS_LISTING, *arguments[] = {listing};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        printf("command\t%s\n", commands[i].name);
        if (commands[i].run(1, arguments) != EXIT_CODE_GOOD) return EXIT_CODE_USAGE;
    }
    return EXIT_CODE_GOOD;
}

// What every command owes to whoever reads its exit status: all that it printed is written, and nothing is missing in
// it for want of memory.
static enum exit_code end_well(enum exit_code code) {
    struct error error;
    bool is_written = fflush(stdout) == 0 && !ferror(stdout);
    if (!is_written) fprintf(stderr, "hbmview: What it printed could not be written: %s.\n", strerror(errno));
    bool is_whole = !memory_was_refused(0, &error);
    if (!is_whole) fprintf(stderr, "hbmview: What stands above may not be all. %s\n", error.message);
    return is_written && is_whole ? code : EXIT_CODE_UNREADABLE;
}

int main(int argc, char *argv[]) {
    if (!hold_standard_streams())
        return (int)command_complain(EXIT_CODE_UNREADABLE,
                                     "Standard input, output or errors are closed, and so is /dev/null.");
    tune_memory();
    json_read_begin();
    if (argc == 2 && strcmp(argv[1], FLAGS_LISTING) == 0) return (int)end_well(list_commands());
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) return (int)end_well(commands[i].run(argc - 2, argv + 2));
    }
    return (int)end_well(serve_run(argc > 0 ? argc - 1 : 0, argv + 1));
}
