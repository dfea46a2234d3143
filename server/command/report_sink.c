#include "server/command/report_sink.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { DRAIN_BYTES = 64 << 10 };

void report_sink_init(struct report_sink *sink, int fd) {
    *sink = (struct report_sink){.fd = fd};
    output_init(&sink->output, OUTPUT_LIMIT_BYTES);
}

void report_sink_free(struct report_sink *sink) {
    output_free(&sink->output);
}

static void write_all(struct report_sink *sink) {
    if (sink->output.size) progress_hide(sink->progress);
    const char *at = sink->output.data;
    size_t left = sink->output.size;
    while (left > 0 && !sink->is_closed) {
        ssize_t written = write(sink->fd, at, left);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            sink->is_closed = true;
            sink->error_number = errno == EPIPE ? 0 : errno;
            return;
        }
        at += written;
        left -= (size_t)written;
    }
}

static void empty(struct report_sink *sink) {
    if (sink->output.failed && !sink->is_closed) {
        sink->is_closed = true;
        sink->error_number = ENOMEM;
    }
    write_all(sink);
    sink->output.size = 0;
}

void report_sink_drain(struct report_sink *sink) {
    if (sink->output.size >= DRAIN_BYTES || sink->output.failed) empty(sink);
}

bool report_sink_finish(struct report_sink *sink, const char **problem) {
    empty(sink);
    *problem = strerror(sink->error_number);
    return sink->error_number == 0;
}
