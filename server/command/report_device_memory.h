// Device memory profiles in the report: who held memory on the devices, by Python stack.
//
//     PATH ─> catalog ─> files: those outside any session, and those in the folders of sessions
//                        └─> one at a time: totals by kind and device, functions of the user's code, stacks
//
// Where PATH holds nothing else the report is theirs alone (`is_all`); else text and markdown get them after the
// modules, json gets them under "device_memory", and csv, whose rows are buffers of modules, has none.
#pragma once

#include "analysis/device_memory/device_memory_tree.h"
#include "analysis/input/catalog.h"
#include "server/command/report_errors.h"
#include "server/command/report_options.h"
#include "server/command/report_page.h"
#include "server/command/report_sink.h"
#include "server/text/json_writer.h"

struct report_device_memory_file {
    const char *session;  // printable
    const struct input_file *file;
};

struct report_device_memory {
    const struct report_options *options;
    struct report_errors *errors;
    struct report_device_memory_file *files;  // those outside any session first; else by session, newest first
    size_t file_count;
    bool is_all;  // PATH holds no session that the options ask for
};

// Finds what the options of `found` ask for; none where they ask for a module or a memory space.
void report_device_memory_find(const struct catalog *catalog, struct arena *arena, struct report_device_memory *found);

// Writes them in the format of the options: after the modules, or as the whole report where they are all there is.
void report_device_memory_write(const struct report_device_memory *found, struct report_sink *sink);

// "device_memory": [...], as a key of the object that is open. Nothing where there is no file.
void report_device_memory_write_json(const struct report_device_memory *found, struct json_writer *w);
