// What an answer says of files that could not be read: a saved page holds the answer as it is, and says what it lacks.
//
//     modules, memory_profile    {"hosts": [{"name" or "host", "error": {"message", "file"}}]}
//     device_memory              {"files": [{"name", "error": {...}}]}
//     session                    {"unreadable_files": 1}
#pragma once

#include "server/saving/saved_page.h"

// Each fault becomes a sentence of the page (saved_page_miss).
void saved_faults_tell(struct saved_page *page, const char *resource, const json_t *reply);

// Why a module is not in this list of a session: a host or file of it that could not be read, or, where all could, that
// there is none of that name. Returns false.
bool saved_faults_no_module(const json_t *modules, const char *session, const char *module, struct error *error);
