// By which names and addresses this machine can be reached. Asks the kernel and two small files, never the network:
// a slow name server must not delay the start.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/base/arena.h"

struct machine_names {
    const char **addresses;  // numeric, not loopback, IPv4 first
    size_t address_count;
    const char **names;  // the host name, then the host name in each search domain of /etc/resolv.conf; lower case
    size_t name_count;
};

enum { MACHINE_NAMES_MAX = 64 };  // of each kind

bool machine_names_read(struct arena *arena, struct machine_names *names);
