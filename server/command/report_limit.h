// `report --fail-over`: whether a program needs more than it may.
#pragma once

#include "server/command/report_inventory.h"

// Tells on stderr which programs are above it. False: there are some.
bool report_limit_check(struct report *report, const struct report_inventory *inventory);
