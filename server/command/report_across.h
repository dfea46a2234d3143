// The hosts of one session side by side in the report (across_document.h), or its device memory profiles. What is
// compared is taken while each is told, so that no file is read twice.
//
//     host after host ──> report_across_take ──> its peaks, which are little
//                                   └──> report_across_compare ──> lines, "across"; which are told whole
//
// Of more hosts than ACROSS_HOSTS_WHOLE text tells those whole that hold most of a memory and those that differ most;
// JSON and CSV tell all.
#pragma once

#include "server/command/report_sessions.h"
#include "server/document/across_document.h"
#include "server/store/peak_store.h"

enum { ACROSS_HOSTS_WHOLE = 8 };

struct report_across {
    struct report *report;
    struct across_host *hosts;
    const struct memory_peaks **peaks;
    size_t count, room;
    struct across across;
    bool has_any;    // once it is compared: there are two memories of a kind
    bool *is_whole;  // of each host
    size_t whole_count;
};

// For at most `room` hosts. False: the error is among the report's.
MUST_USE bool report_across_begin(struct report_across *a, struct report *report, size_t room);

// The next host, whose profile is loaded (as far as `fault`, which may be ERROR_NONE). `name` must outlive the report.
void report_across_take(struct report_across *a, const char *name, const struct memory_profile *profile,
                        const struct error *fault);

// The next file; NULL: it could not be read, and *fault says why. A file alone is not compared: its devices are told as
// they are.
void report_across_take_device_memory(struct report_across *a, const char *name,
                                      const struct device_memory_profile *profile, const struct error *fault);

// To be called after the last host.
void report_across_compare(struct report_across *a);

// Whether the host, counted as they were taken, is told whole in text.
bool report_across_is_whole(const struct report_across *a, size_t host);

// "Across 256 hosts: S" with `noun` "host": a line for each memory, who differs and by what, and which hosts are told
// whole. `how` says how to see the others; NULL: all are told. Nothing where nothing can be compared.
void report_across_text(const struct report_across *a, const char *session, const char *noun, const char *how,
                        struct page *page);

// Keys of the object that is open.
void report_across_json(const struct report_across *a, struct json_writer *w);
