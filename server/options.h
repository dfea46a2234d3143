// What the user asked for on the command line of `hbmview` (the serving command).
//
// Flags read `--flag=value` and `--flag value`, as XProf's do; switches take no value.
#pragma once

#include "server/storage_flags.h"

// What of memory is kept and taken, wherever requests are answered: of `options`.
#define MEMORY_FLAGS(options)                                                                                          \
    {"cache_mib", FLAG_NUMBER, .number = &(options)->cache_mib, .min = 0, .max = CACHE_MIB_MAX}, {                     \
        "memory_limit", FLAG_NUMBER, .number = &(options)->memory_limit_mib, .min = MEMORY_LIMIT_MIN_MIB,              \
                                     .max = CACHE_MIB_MAX                                                              \
    }

// The cache has room for one large memory profile besides the modules in view.
enum { DEFAULT_CACHE_MIB = 160, CACHE_MIB_MAX = 1 << 20, MEMORY_LIMIT_MIN_MIB = 128 };

// What the program's exit status says.
enum exit_code { EXIT_CODE_GOOD = 0, EXIT_CODE_CHECK_FAILED = 1, EXIT_CODE_USAGE = 2, EXIT_CODE_UNREADABLE = 3 };

struct options {
    const char *logdir;   // NULL: the built-in sample
    const char *host;     // NULL: loopback
    const char *web_dir;  // NULL: the embedded page
    struct flag_list allow_hosts;
    const char *frame_ancestors;     // NULL: nobody
    const char *unix_socket;         // NULL: a port
    const char *token_file;          // NULL: HBMVIEW_TOKEN, or a random one
    const char *tls_cert, *tls_key;  // both or neither; NULL: not encrypted
    int port;                        // 0: any free one
    int cache_mib;
    int memory_limit_mib;  // 0: none
    struct storage_settings storage;
    int threads;  // 0: by the number of cores
    bool follow_symlinks, bind_all, no_token, open_browser, verbose, behind_proxy, exit_with_stdin;
    bool no_sandbox;
    bool show_help, show_version;
};

enum { OPTIONS_PROBLEM_BYTES = FLAGS_PROBLEM_BYTES };

// Reads `arguments` (without the program's name; they must outlive the options). False: `problem` is one sentence.
bool options_parse(int count, char *const arguments[], struct options *options, char problem[OPTIONS_PROBLEM_BYTES]);

// How much the cache may hold: of a limit for all, what is kept between requests takes half at most.
size_t options_cache_bytes(const struct options *options);

// The text of --help.
const char *options_help(void);
