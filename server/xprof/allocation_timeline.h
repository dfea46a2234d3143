// The buffers of a memory space as rectangles of offset x program order: one page with one SVG, without scripts, styles
// or anything from elsewhere, so that it can be saved and sent. What XProf's "timeline" link opens (there drawn in the
// browser by a program from the internet).
//
//     offset ^  [ fusion.3      ]   [copy.9 ]
//            |  [ all-gather.1        ]             hover: the browser shows each rectangle's title
//            +----------------------------------> program order
//
// Rectangles under 1/4096 of either side are left out, as in XProf, and their number is said. The zoomable chart is on
// the page itself.
#pragma once

#include "analysis/memory/memory_view.h"
#include "server/text/output.h"

MUST_USE bool allocation_timeline_write(const struct memory_view *view, const char *module, struct arena *scratch,
                                        struct output *output, struct error *error);
