// What the Compare page asks for: of saved_view.h.
#pragma once

#include "server/saving/saved_page.h"
#include "server/saving/saved_view.h"

// Which two programs, where the address leaves it to the page: as the page asked last, on `arena`.
void saved_comparison_complete(struct saved_view *view, struct arena *arena);

MUST_USE bool saved_comparison_put(struct saved_page *page, const struct saved_view *view, struct error *error);
