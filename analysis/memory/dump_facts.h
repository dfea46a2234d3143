// What a dump says about a program beside its buffers:
//
//     -memory-usage-report.pb / .txt    the compiler's own count
//     oom_intermediate_module.*         the compile ran out of memory
//     the module's own file is a text   some things are not known
//
// Found by the module file's name (dump_files.h); absent for what is no file of a dump. A damaged report is a sentence,
// not an error: it must not hide the program.
#pragma once

#include "analysis/input/input_file.h"
#include "analysis/memory/usage_report.h"

struct dump_facts {
    bool has_report;
    struct usage_report report;
    const char *report_path;     // NULL: no such file
    const char *report_problem;  // NULL, or why it cannot be read
    const char *oom_path;        // NULL: the compile did not run out of memory, or the dump does not say
    bool is_text, has_program_text, has_live_ranges;
};

// On `arena`. What finds no memory is left out.
void dump_facts_read(const struct input_file *file, struct arena *arena, struct dump_facts *facts);
