// XProf's Memory Profile of one host as JSON: every field, in the order and the words of protobuf's JSON.
//
//     {"memoryProfilePerAllocator": {"GPU_0_bfc": {"memoryProfileSnapshots": [the events that rows of the table name],
//                                                  "profileSummary", "activeAllocations": [the rows],
//                                                  "specialAllocations", "sampledTimelineSnapshots"}},
//      "numHosts": 1, "memoryIds": [...], "version": 1, "hloModules": [...]}
#pragma once

#include "analysis/profile/memory_profile.h"
#include "server/text/json_writer.h"

// False: ERROR_TOO_BIG.
MUST_USE bool xprof_memory_profile_write(const struct memory_profile *profile, struct json_writer *w,
                                         struct error *error);
