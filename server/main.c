// hbmview: see server/options.c for its words, ARCHITECTURE.md for its parts.
//
// Finds the command and runs it. Without a command's name: serve.
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "server/command/command.h"
#include "server/serve.h"

// A thread serves each connection, and glibc would keep a pool of freed memory for each. A load takes and frees tens of
// MB: mapped anew each time, half of its time would go into page faults; so the pools keep some, up to a limit.
static void tune_memory(void) {
#ifdef __GLIBC__
    enum { POOLS_MAX = 2, KEPT_FREE_BYTES = 32 << 20 };
    mallopt(M_ARENA_MAX, POOLS_MAX);
    mallopt(M_MMAP_THRESHOLD, KEPT_FREE_BYTES);
    mallopt(M_TRIM_THRESHOLD, KEPT_FREE_BYTES);
#endif
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
static int list_commands(void) {
    char listing[] = FLAGS_LISTING, *arguments[] = {listing};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        printf("command\t%s\n", commands[i].name);
        if (commands[i].run(1, arguments) != EXIT_CODE_GOOD) return EXIT_CODE_USAGE;
    }
    return EXIT_CODE_GOOD;
}

int main(int argc, char *argv[]) {
    tune_memory();
    if (argc == 2 && strcmp(argv[1], FLAGS_LISTING) == 0) return list_commands();
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) return (int)commands[i].run(argc - 2, argv + 2);
    }
    return (int)serve_run(argc > 0 ? argc - 1 : 0, argv + 1);
}
