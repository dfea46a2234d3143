// The lines of --verbose, on their way to stderr: whoever reads that (a terminal that was stopped, a pipe) may take
// its time, and those who answer requests do not wait for it.
//
//     exchange --request_log_add--> [ lines, at most REQUEST_LOG_BYTES ] --a thread--> stderr
//
// What finds no room is left out and counted: "12 lines left out" stands where they would. Thread-safe.
#pragma once

#include <stddef.h>

struct request_log;

enum { REQUEST_LOG_BYTES = 256 << 10, REQUEST_LOG_LAST_MS = 2000 };

// To the open file `to`. NULL: no memory, or no thread.
struct request_log *request_log_new(int to);

// Waits until what was added is written, but not for ever: of whom nobody reads for REQUEST_LOG_LAST_MS, the thread and
// what it had to write stay behind, for the program that ends. NULL is fine.
void request_log_free(struct request_log *log);

// A line, without its end.
void request_log_add(struct request_log *log, const char *line);
