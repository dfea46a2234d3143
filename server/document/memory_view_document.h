// What is told of one memory space of one module: the exact view, XProf's beside it, and what stands around them. Made
// by the handler, told by memory_view_json and memory_overview_json; memory_view_notes says what a reader must know.
#pragma once

#include "analysis/memory/dump_facts.h"
#include "analysis/memory/memory_summary.h"
#include "analysis/memory/memory_view.h"
#include "server/store/scoped_vmem.h"

struct memory_view_document {
    const char *session, *host, *module;
    const struct memory_view *view;   // exact
    const struct memory_view *xprof;  // as XProf makes it; NULL when XProf cannot
    const char *xprof_reason;         // why it cannot; NULL when it can
    struct memory_summary_list summaries;
    struct scoped_vmem scoped_vmem;
    struct dump_facts dump;
    bool as_differences;  // columns that grow are told as differences (fields.h), and "delta" names them
};
