// Device memory profiles in the report: who held memory on the devices, by Python stack.
//
//     PATH ─> catalog ─> files: those outside any session, and those in the folders of sessions
//                        └─> one at a time: totals by kind and device, functions of the user's code, stacks
//
// Where PATH holds nothing else the report is theirs alone (`is_all`); else text and markdown get them after the
// modules, json gets them under "device_memory", and csv, whose rows are buffers of modules, has none.
#pragma once

#include "server/command/report_sessions.h"
#include "server/store/device_memory_store.h"
#include "server/text/json_writer.h"

struct report_device_memory_file {
    const char *session;  // printable
    const struct input_file *file;
};

struct report_device_memory {
    struct report *report;
    struct report_device_memory_file *files;  // those outside any session first; else by session, newest first
    size_t file_count;
    bool is_all;  // PATH holds no session that the options ask for
};

// Finds what the report asks for; none where it asks for a module or a memory space. What cannot be listed is among the
// report's errors.
void report_device_memory_find(struct report_device_memory *found);

void report_device_memory_write_text(const struct report_device_memory *found);  // or Markdown; after the modules
void report_device_memory_write_csv(const struct report_device_memory *found);

// "device_memory": [...], as a key of the object that is open. Nothing where there is no file.
void report_device_memory_write_json(const struct report_device_memory *found, struct json_writer *w);
