// Puts into a file whatever the page asks for in a view (saved_view.h).
#pragma once

#include "server/saving/saved_page.h"
#include "server/saving/saved_view.h"

// Asks for all of it. False: *error is filled.
MUST_USE bool saved_view_put(struct saved_page *page, const struct saved_view *view, struct error *error);

// "v5e_gpt_12layer jit_train_step(1).html", without what file systems mind. On `arena`, NULL at its limit.
const char *saved_view_name(const struct saved_view *view, struct arena *arena);
