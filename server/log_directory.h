// A first look at --logdir before serving: only whether it is there and may be read. The scan comes with the first
// request, so that the start takes no longer for a large directory.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// False: `problem` is one sentence that says what to do.
bool log_directory_check(const char *path, char *problem, size_t problem_size);
