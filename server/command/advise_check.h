// `hbmview advise --check`: hands the question on to the Python package, which has the compiler.
//
//     $HBMVIEW_PYTHON, else python3  ->  python3 -m hbmview check PATH --session=S ... [--flags]
//         has no hbmview._check: a sentence that says what to install, exit code 3
//         has it: this program becomes that one, whose output and exit code are the answer
//
// The package asks this very program about the dumps that the compiler leaves (HBMVIEW is its path). A command does
// this; the server starts no process and could not (server/sandbox).
#pragma once

#include "analysis/base/arena.h"
#include "server/command/command.h"

enum advise_checked { ADVISE_CHECK_CHANGES, ADVISE_CHECK_FLAGS };

enum { ADVISE_CHECK_ARGUMENTS_MAX = 24 };

struct advise_check {
    struct arena arena;
    char *arguments[ADVISE_CHECK_ARGUMENTS_MAX];  // of the command line of Python; NULL after the last one
    size_t count;
};

void advise_check_begin(struct advise_check *check, const char *path, enum advise_checked checked);

// "--name=value"; nothing where `value` is NULL.
void advise_check_add(struct advise_check *check, const char *name, const char *value);

// "--name".
void advise_check_add_switch(struct advise_check *check, const char *name);

// "--name=value" of a number.
void advise_check_add_number(struct advise_check *check, const char *name, int64_t number);

// Returns only where there is nobody to ask, having said what is missing.
enum exit_code advise_check_run(struct advise_check *check);
