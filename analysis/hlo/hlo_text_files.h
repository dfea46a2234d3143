// The texts of a dump, as hlo_text.h gets them; borrowed.
#pragma once

#include "proto/bytes.h"

struct hlo_text_file {
    const char *path;  // for errors; NULL where there is no such file
    struct bytes text;
};

struct hlo_text {
    struct hlo_text_file assignment, program, values, live_range;
};
