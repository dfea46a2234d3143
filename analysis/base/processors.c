#define _GNU_SOURCE  // sched_getaffinity
#include "analysis/base/processors.h"

#include <sched.h>

// Fails where there are more processors than a cpu_set_t has room for (1024).
unsigned processors_usable(unsigned most) {
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0) return most;
    unsigned count = (unsigned)CPU_COUNT(&usable);
    return count < 1 ? 1 : count > most ? most : count;
}
