// A number for files and their versions: another one when a file of them comes, goes, is replaced, rewritten or grows.
//
//     stamp = FILE_STAMP_OF_NONE;
//     stamp = file_stamp_with(stamp, name, &version);     // for each, in an order that stays
//
// Not kept between runs: how it is made may change.
#pragma once

#include "analysis/input/file_version.h"

#define FILE_STAMP_OF_NONE 0xCBF29CE484222325U

uint64_t file_stamp_with(uint64_t stamp, const char *name, const struct file_version *version);
uint64_t file_stamp_with_text(uint64_t stamp, const char *text);
uint64_t file_stamp_with_number(uint64_t stamp, uint64_t number);
