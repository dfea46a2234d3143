// The lists of a saved page: the one session, and the modules that are held, in the words of the API.
#pragma once

#include "server/saving/saved_page.h"

// ERROR_NOT_FOUND when there is no such session.
MUST_USE bool saved_lists_put_session(struct saved_page *page, const char *session, struct error *error);

// Two, or with NULL for both none: a view that needs no session.
MUST_USE bool saved_lists_put_sessions(struct saved_page *page, const char *a, const char *b, struct error *error);

// The newest session of the log directory that `list` names ("sessions" or "device_memory"), on the arena; NULL when
// there is none.
MUST_USE bool saved_lists_newest(struct saved_page *page, const char *list, const char **session, struct error *error);

// The reply about modules, with those of `rows` alone (each as its overview told it).
MUST_USE bool saved_lists_put_modules(struct saved_page *page, const char *session, json_t *modules, json_t *rows,
                                      struct error *error);
