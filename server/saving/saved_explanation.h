// What the page "Out of memory" asks for: of saved_view.h.
#pragma once

#include "server/saving/saved_page.h"
#include "server/saving/saved_view.h"

MUST_USE bool saved_explanation_put(struct saved_page *page, const struct saved_view *view, struct error *error);
