#include "server/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_PORT = 6006, PORT_MAX = 65535, THREADS_MAX = 256 };

const char *options_help(void) {
    return "hbmview: where did the memory of my accelerator go?\n"
           "\n"
           "  hbmview --logdir=DIR [--port=6006]   serve the profiles in DIR (http://localhost:6006/)\n"
           "  hbmview                              the same for a built-in sample\n"
           "  hbmview report PATH                  the same facts as text, for terminals and scripts\n"
           "  hbmview explain [FILE|-]             an out-of-memory message: what it means, what to change\n"
           "  hbmview advise PATH                  what a change to the program would save, in bytes\n"
           "  hbmview diff A B                     what changed between two programs, by line and by buffer\n"
           "  hbmview watch PATH                   a line for each new program or peak, while a run goes on\n"
           "  hbmview mcp [--logdir=DIR]           the same facts for agents (Model Context Protocol on stdio)\n"
           "  hbmview get_memory_profile PATH, get_peak_allocations PATH    as XProf's commands answer\n"
           "\n"
           "  --logdir PATH     a log directory, a session folder, a folder of XLA's --xla_dump_to, or one\n"
           "                    *.xplane.pb, *.hlo_proto.pb or memory.prof file (each also .gz); also\n"
           "                    gs://bucket/run, s3://bucket/run, or the https:// address of one file\n"
           "  --follow_symlinks  open links that lead out of the log directory\n"
           "  --port N          where to listen; 0 picks a free port and prints it (6006)\n"
           "  --open            open the page in the browser\n"
           "  --host ADDRESS    listen on this address instead of this machine only\n"
           "  --bind_all        listen on all addresses: for colleagues; the printed link carries a token\n"
           "  --allow_host NAME  be called by this name too (tunnels, proxies); *.NAME for all below it; again\n"
           "                    for another one\n"
           "  --behind_proxy    believe the X-Forwarded-Host, -Prefix and -Proto of a proxy on this machine\n"
           "  --frame_ancestors SOURCES  who may show the page in a frame: \"'self' https://hub.example\" (nobody)\n"
           "  --unix_socket PATH  listen on this file, for this user alone, instead of on a port\n"
           "  --token_file FILE  want the token in FILE (or in HBMVIEW_TOKEN), the same for all replicas\n"
           "  --no_token        let anybody in who reaches the port\n"
           "  --tls_cert FILE   encrypt (https) with this certificate (PEM); read once, at the start\n"
           "  --tls_key FILE    the key of --tls_cert (PEM, without a passphrase)\n"
           "  --exit_with_stdin  end when stdin does: with the program that started this\n"
           "  --cache_mib N     how much of files and answers to keep between requests (160);\n"
           "                    on top come loads, answers under way, some 60 MiB for the rest\n"
           "  --memory_limit N  the most MiB for the whole process, 128 or more: the cache\n"
           "                    gives way, loads queue, what does not fit is refused (none)\n" STORAGE_FLAGS_HELP
           "  --threads N       how many small, and how many large profiles to read at the same time (by the\n"
           "                    number of cores); those that wait for a slow disk do not count\n"
           "  --no_sandbox      do without the kernel's limits on what the server may read and do\n"
           "  --verbose         one line for each request on stderr\n"
           "  --web_dir DIR     serve the page from DIR instead of from the program (for development)\n"
           "  --version, --help\n"
           "\n"
           "Exit codes: 0 good, 1 a check failed, 2 wrong usage or a port that is taken, 3 an input that cannot be "
           "read.\n";
}

// False: two of them exclude each other, or one wants another.
static bool go_together(const struct options *options, char problem[OPTIONS_PROBLEM_BYTES]) {
    if (options->bind_all && options->host) {
        snprintf(problem, OPTIONS_PROBLEM_BYTES,
                 "--bind_all and --host exclude each other: --bind_all is every address.");
        return false;
    }
    if (options->unix_socket && (options->bind_all || options->host || options->open_browser)) {
        snprintf(problem, OPTIONS_PROBLEM_BYTES,
                 "--unix_socket and --%s exclude each other: no other machine, and no browser, reaches a file.",
                 options->bind_all ? "bind_all"
                 : options->host   ? "host"
                                   : "open");
        return false;
    }
    if (!options->tls_cert != !options->tls_key) {
        snprintf(problem, OPTIONS_PROBLEM_BYTES, "--tls_cert and --tls_key are given together: --%s is missing.",
                 options->tls_cert ? "tls_key" : "tls_cert");
        return false;
    }
    if (options->unix_socket && options->tls_cert) {
        snprintf(problem, OPTIONS_PROBLEM_BYTES,
                 "--unix_socket and --tls_cert exclude each other: nobody but this user reads along on a file.");
        return false;
    }
    if (options->no_token && options->token_file) {
        snprintf(problem, OPTIONS_PROBLEM_BYTES, "--no_token and --token_file exclude each other.");
        return false;
    }
    return true;
}

bool options_parse(int count, char *const arguments[], struct options *options, char problem[OPTIONS_PROBLEM_BYTES]) {
    *options = (struct options){
        .port = DEFAULT_PORT, .cache_mib = DEFAULT_CACHE_MIB, .storage = storage_settings_usual()};
    const struct flag flags[] = {
        {"logdir", FLAG_PATH, .text = &options->logdir},
        {"port", FLAG_NUMBER, .number = &options->port, .min = 0, .max = PORT_MAX},
        {"host", FLAG_TEXT, .text = &options->host},
        {"follow_symlinks", FLAG_SWITCH, .on = &options->follow_symlinks},
        {"bind_all", FLAG_SWITCH, .on = &options->bind_all},
        {"allow_host", FLAG_LIST, .list = &options->allow_hosts},
        {"behind_proxy", FLAG_SWITCH, .on = &options->behind_proxy},
        {"frame_ancestors", FLAG_TEXT, .text = &options->frame_ancestors},
        {"unix_socket", FLAG_PATH, .text = &options->unix_socket},
        {"token_file", FLAG_PATH, .text = &options->token_file},
        {"no_token", FLAG_SWITCH, .on = &options->no_token},
        {"tls_cert", FLAG_PATH, .text = &options->tls_cert},
        {"tls_key", FLAG_PATH, .text = &options->tls_key},
        {"exit_with_stdin", FLAG_SWITCH, .on = &options->exit_with_stdin},
        MEMORY_FLAGS(options),
        STORAGE_FLAGS(options->storage),
        {"threads", FLAG_NUMBER, .number = &options->threads, .min = 1, .max = THREADS_MAX},
        {"open", FLAG_SWITCH, .on = &options->open_browser},
        {"no_sandbox", FLAG_SWITCH, .on = &options->no_sandbox},
        {"verbose", FLAG_SWITCH, .on = &options->verbose},
        {"web_dir", FLAG_PATH, .text = &options->web_dir},
        {"version", FLAG_SWITCH, .on = &options->show_version},
        {"help", FLAG_SWITCH, .on = &options->show_help},
    };
    const char *word = NULL;
    const struct flag_set set = {flags, sizeof flags / sizeof flags[0], &word, NULL, NULL};
    if (!flags_read(count, arguments, &set, problem)) return false;
    if (word) {
        snprintf(problem, OPTIONS_PROBLEM_BYTES,
                 "\"%.80s\" is not a command; to serve a folder: hbmview --logdir=%.80s", word, word);
        return false;
    }
    return go_together(options, problem);
}

size_t options_cache_bytes(const struct options *options) {
    size_t wanted = (size_t)options->cache_mib << 20, half = (size_t)options->memory_limit_mib << 20 >> 1;
    return half && half < wanted ? half : wanted;
}
