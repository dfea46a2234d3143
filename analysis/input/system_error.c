#include "analysis/input/system_error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/refused_memory.h"

// Who may read a file and is refused all the same is in a sandbox: as a rule the server's own.
static const char *advice_of(int number, const char *path) {
    if (number != EACCES && number != EPERM) return "";
    if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0) return "; check its permissions";
    return "; its permissions allow it but a sandbox does not: if the log directory was replaced while the server ran, "
           "start the server again, or with --no_sandbox";
}

static enum error_code code_of(int number) {
    switch (number) {
        case ENOENT:
        case ENOTDIR:
            return ERROR_NOT_FOUND;
        case ENOMEM:
        case EMFILE:
        case ENFILE:
            return ERROR_NO_MEMORY;
        default:
            return ERROR_UNREADABLE;
    }
}

bool system_error(struct error *error, int number, const char *action, const char *path) {
    char reason[128];
    if (strerror_r(number, reason, sizeof reason) != 0) reason[0] = '\0';
    if (number == ENOMEM) (void)memory_or_refusal(NULL);
    if (number == EMFILE || number == ENFILE) memory_refused_descriptor();
    return error_in(error, code_of(number), path, ERROR_WHOLE_FILE, "cannot %s: %s%s", action, reason,
                    advice_of(number, path));
}
