// indefiniteLifetimes of XProf's JSON: the allocations that live for the whole program, with the buffers in them.
#pragma once

#include "server/xprof/xprof_words.h"

void xprof_lifetimes_write(const struct memory_view *view, struct xprof_words *words, struct json_writer *w);
