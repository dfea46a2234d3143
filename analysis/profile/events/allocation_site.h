// What is allocated, without when: events that agree in all of this are one site (and one row of a breakdown).
//
//     event --> { op, region type, data type, shape, requested, allocated } --> number of the site
//
// Texts are views that live as long as the profile. Numbers count up in order of first appearance.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"

struct allocation_site {
    struct bytes op;           // tf_op: "gradient_tape/MatMul/MatMul"; empty when the event told none
    struct bytes region_type;  // "output", "temp", "persist/dynamic", ...
    struct bytes shape;        // "[784,512]"
    int64_t data_type;         // TensorFlow's DataType; ALLOCATION_SITE_NO_DATA_TYPE when the event told none
    int64_t requested_bytes;
    int64_t allocated_bytes;
};

#define ALLOCATION_SITE_NO_DATA_TYPE INT64_MIN

struct allocation_sites {
    struct allocation_site *sites;
    uint32_t count;
};
