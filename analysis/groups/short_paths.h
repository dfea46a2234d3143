// The shortest names that tell files apart: as many of their last folders as that takes.
//
//     /home/u/train.py             train.py
//     /home/u/llama3/model.py      llama3/model.py
//     /home/u/gemma/model.py       gemma/model.py
#pragma once

#include "analysis/base/error.h"
#include "analysis/base/string_table.h"

// names[i] is a view into paths[i]; no two paths are the same. False at the arena's limit.
MUST_USE bool short_paths_make(const struct bytes *paths, uint32_t count, struct arena *arena, struct bytes **names);
