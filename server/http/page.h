// The page: its files, and index.html for every path that is no file, so that deep links open the page as in XProf.
#pragma once

#include "server/http/reply.h"

bool page_file(struct request *request, struct reply *reply, struct error *error);

// Whether page_file answers it without waiting for anything (assets_are_at_hand).
bool page_is_at_hand(struct request *request);

// /favicon.ico: browsers ask for it unasked; the page names its own icon.
bool page_icon(struct request *request, struct reply *reply, struct error *error);
