// The files of AWS's tools: sections of names and values.
//
//     [profile work]               a section
//     region = eu-west-1           a value; "#" and ";" begin a comment
#pragma once

#include "proto/bytes.h"

// The value of `name` in the last section of that name that has it; false: there is none.
bool ini_find(struct bytes text, struct bytes section, struct bytes name, struct bytes *value);
