// Is a profile file still being written? Asked only of files that changed a moment ago.
#pragma once

#include <stdbool.h>

// True when the content (an XSpace or an HloProto, also gzip) ends inside a field, or there is none yet. A file that
// cannot be opened, or is wrong in another way, is not: its error shows when it is opened.
bool file_completeness_ends_early(const char *path);
