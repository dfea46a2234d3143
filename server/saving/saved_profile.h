// What the Memory Profile asks for: of saved_view.h.
#pragma once

#include "server/saving/saved_page.h"
#include "server/saving/saved_view.h"

MUST_USE bool saved_profile_put(struct saved_page *page, const struct saved_view *view, struct error *error);
