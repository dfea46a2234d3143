// bufferBlocks of XProf's JSON: for each temporary allocation a white container, then the buffers that lived in it as
// rectangles of offset x program order.
#pragma once

#include "server/xprof/xprof_peak.h"

void xprof_blocks_write(const struct memory_view *view, const struct xprof_peak *peak, struct xprof_words *words,
                        struct json_writer *w);
