// What a file's name says: an XSpace of a host, an HLO module, or nothing of ours.
//
//     tpu-vm-0.xplane.pb[.gz]        host tpu-vm-0
//     jit_f(36).hlo_proto.pb[.gz]    module jit_f(36): XProf's cache
//     NO_MODULE.hlo_proto.pb         nothing: XProf's way to say that there is none
//     jit_f.hlo.pb[.gz]              module jit_f: a dump
#pragma once

#include "proto/bytes.h"

enum input_name_kind { INPUT_NAME_OTHER, INPUT_NAME_XPLANE, INPUT_NAME_HLO };

struct input_name {
    enum input_name_kind kind;
    struct bytes stem;  // the name without its endings; a view into it
    bool compressed;
};

struct input_name input_name_parse(struct bytes file_name);

// "jit_f(36)": module "jit_f", program 36. Program ids are unsigned 64-bit fingerprints, kept as their bits.
struct program_name {
    struct bytes module;
    bool has_id;
    int64_t program_id;
};

struct program_name program_name_parse(struct bytes name);
