#include "analysis/input/system_error.h"

#include <errno.h>
#include <string.h>

bool system_error(struct error *error, int number, const char *action, const char *path) {
    char reason[128];
    if (strerror_r(number, reason, sizeof reason) != 0) reason[0] = '\0';
    bool missing = number == ENOENT || number == ENOTDIR;
    const char *advice = number == EACCES || number == EPERM ? "; check its permissions" : "";
    return error_in(error, missing ? ERROR_NOT_FOUND : ERROR_UNREADABLE, path, ERROR_WHOLE_FILE, "cannot %s: %s%s",
                    action, reason, advice);
}
