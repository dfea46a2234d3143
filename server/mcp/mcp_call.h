// One call of a tool while it is answered: what was asked, and what the answer has to say besides its figures.
//
//     arguments ──> mcp_ask ──> the API's documents ──> the tool makes a short answer of them
//                                                       + caveats: what a number of it must not be taken for
//
// A tool asks the program's own API (server/http/inner_ask), which finds sessions and programs by name among those of
// the log directory: no path is ever made of an argument.
#pragma once

#include "server/app.h"
#include "server/http/inner_ask.h"

enum { MCP_TOP_USUAL = 10 };

struct mcp_call {
    const struct app *app;
    struct arena *arena;
    struct reading *reading;
    const json_t *arguments;  // of the kinds that the tool says
    json_t *caveats;          // sentences
};

// An argument; NULL where it was not given.
const char *mcp_text(const struct mcp_call *call, const char *name);

// How long the lists of the answer are.
size_t mcp_top(const struct mcp_call *call);

// A whole number as a text on the arena, for a query; NULL where it was not given.
const char *mcp_number_text(const struct mcp_call *call, const char *name);

void mcp_caveat(struct mcp_call *call, const char *sentence);
void mcp_caveats(struct mcp_call *call, json_t *sentences);

// The API's answer, for json_decref. `query` is ended by a name that is NULL.
MUST_USE json_t *mcp_ask(struct mcp_call *call, const char *resource, const struct request_argument *query,
                         struct error *error);
MUST_USE json_t *mcp_post(struct mcp_call *call, const char *resource, const struct request_argument *query,
                          struct bytes body, struct error *error);

// The same until the document says that it is complete, or MCP_PATIENCE_MS have passed: then a caveat says so.
enum { MCP_PATIENCE_MS = 20000 };
MUST_USE json_t *mcp_ask_until_complete(struct mcp_call *call, const char *resource,
                                        const struct request_argument *query, struct error *error);

// Moves members of one document to another; those that are not there are left out.
void mcp_take(json_t *to, const json_t *from, const char *const keys[]);

// A column of a document of columns that a short answer has too.
struct mcp_column {
    const char *name;     // NULL after the last one
    bool is_text_number;  // its values are numbers of the document's "strings"
};

// A new list of objects: the first `top` rows of the columns, which `strings` belong to (NULL: none does).
MUST_USE json_t *mcp_rows(const json_t *document, const char *columns, const struct mcp_column wanted[], size_t top);

// How many rows there are, and the sum of a column over those past `top`.
size_t mcp_row_count(const json_t *document, const char *columns, const char *column);
json_int_t mcp_sum_past(const json_t *document, const char *columns, const char *column, size_t top);
