// Standard output of a command: bytes are gathered and written in large pieces.
//
// A reader that goes away (`| head`) ends the output without a word, as with other tools; a full disk is a problem to
// be told. After either, what is put is swallowed: ask report_sink_is_open to stop early.
#pragma once

#include "server/command/progress.h"
#include "server/text/output.h"

struct report_sink {
    struct output output;  // put here, then report_sink_drain
    int fd;
    bool is_closed;             // nobody reads any more, or writing failed
    int error_number;           // why writing failed; 0: it did not
    struct progress *progress;  // whose line goes when something is written; NULL: there is none
};

void report_sink_init(struct report_sink *sink, int fd);
void report_sink_free(struct report_sink *sink);

// Writes what has gathered when it is much.
void report_sink_drain(struct report_sink *sink);

// Writes the rest. False: *problem says why it could not be written.
bool report_sink_finish(struct report_sink *sink, const char **problem);

static inline bool report_sink_is_open(const struct report_sink *sink) {
    return !sink->is_closed;
}
