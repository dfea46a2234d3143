#include "server/mcp/mcp_tools.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/refused_memory.h"
#include "server/json_read.h"
#include "server/mcp/mcp_answers.h"

// --- The table ---

enum argument_kind { TEXT, WHOLE };

struct argument {
    const char *name;  // NULL after the last one
    enum argument_kind kind;
    bool is_needed;
    json_int_t min, max;         // of a whole number
    const char *const *choices;  // of a text; NULL: any
    const char *words;
};

struct mcp_tool {
    const char *name, *title, *words;
    mcp_answer *answer;
    const struct argument *arguments;
};

enum { TOP_MAX = 200, STEP_MAX = INT_MAX, SPACES_MAX = 255 };

static const char *const tools_of_report[] = {"memory_viewer", "memory_profile", "device_memory", NULL};
static const char *const keys_of_groups[] = {"source",   "stack", "scope", "argument", "phase",
                                             "category", "dtype", "shape", "opcode",   NULL};
static const char *const weights[] = {"size", "padding", "size_x_lifetime", NULL};

#define SESSION                                                                                                        \
    { "session", TEXT, .words = "A name that the tool sessions lists; the newest where none is given." }
#define MODULE                                                                                                         \
    { "module", TEXT, .words = "A program: \"jit_step(1)\", or \"jit_step\"; the one with the highest peak otherwise." }
#define HOST                                                                                                           \
    { "host", TEXT, .words = "The host, where several have the program." }
#define SPACE                                                                                                          \
    { "memory_space", WHOLE, .max = SPACES_MAX, .words = "0 is HBM (the usual), 1 VMEM." }
#define TOP                                                                                                            \
    { "top", WHOLE, .min = 1, .max = TOP_MAX, .words = "Rows of each list; what is left out is counted. 10." }
#define BY                                                                                                             \
    { "by", TEXT, .choices = keys_of_groups, .words = "What rows are; source, the line of the user's program." }
#define CAPACITY                                                                                                       \
    { "capacity", TEXT, .words = "The memory there is: \"15.75GiB\", or a device: \"v5e\", \"H100\"." }
#define END                                                                                                            \
    { .name = NULL }

static const struct argument of_sessions[] = {
    {"session", TEXT, .words = "Then what this session holds: its programs by peak, devices, tools."}, TOP, END};
static const struct argument of_report[] = {
    SESSION,
    MODULE,
    HOST,
    SPACE,
    {"tool", TEXT, .choices = tools_of_report,
     .words = "memory_viewer: a compiled program (the usual); memory_profile: memory over time as measured; "
              "device_memory: who in Python holds it."},
    {"memory_id", TEXT, .words = "Of memory_profile: the allocator; the one with the highest peak otherwise."},
    {"file", TEXT, .words = "Of device_memory: the file, where there are several."},
    TOP,
    END};
static const struct argument of_who_holds[] = {
    SESSION,
    MODULE,
    HOST,
    SPACE,
    BY,
    {"weight", TEXT, .choices = weights, .words = "What rows are sorted and shared by; size."},
    {"step", WHOLE, .max = STEP_MAX, .words = "A step of program order; the peak where none is given."},
    TOP,
    END};
static const struct argument of_explain[] = {
    {"text", TEXT, .is_needed = true, .words = "The log, the traceback, or just the message; up to 16 MiB."},
    {"session", TEXT, .words = "Look for the program in this session only."},
    {"module", TEXT, .words = "The program is this one; the message's own otherwise."},
    CAPACITY,
    TOP,
    END};
static const struct argument of_advise[] = {
    SESSION,
    MODULE,
    HOST,
    CAPACITY,
    {"ways", WHOLE, .min = 2, .max = 1 << 20, .words = "Chips to shard over; 4."},
    {"batch", WHOLE, .min = 1, .max = INT_MAX, .words = "The size of the batch dimension, where it is not found."},
    {"sequence", WHOLE, .min = 2, .max = INT_MAX, .words = "The length of the sequence, where it is not found."},
    TOP,
    END};
static const struct argument of_diff[] = {
    SESSION,
    MODULE,
    HOST,
    {"session_b", TEXT, .words = "The session after the change; session otherwise."},
    {"module_b", TEXT, .words = "The program after the change; the one called as module otherwise."},
    BY,
    SPACE,
    TOP,
    END};

static const struct mcp_tool tools[] = {
    {"sessions", "Sessions and programs",
     "Which profiles there are (newest first), or with session: the programs of one, by peak memory. Start here.",
     mcp_answer_sessions, of_sessions},
    {"report", "What fills the memory",
     "A program's peak and total, what of it are parameters, outputs, temporaries, padding, and its largest buffers "
     "with "
     "their source lines; or memory over time (tool=memory_profile), or Python's arrays (tool=device_memory).",
     mcp_answer_report, of_report},
    {"who_holds", "Who holds the memory",
     "The live bytes at the peak (or a step) summed by line of the user's program, scope, argument, phase, dtype, "
     "shape, "
     "opcode or category.",
     mcp_answer_who_holds, of_who_holds},
    {"explain", "Explain an out-of-memory message",
     "What an out-of-memory message of XLA (TPU, GPU, BFC allocator) means, which buffers and lines are to blame, and "
     "fixes with predicted savings, joined to the program where the log directory has it.",
     mcp_answer_explain, of_explain},
    {"advise", "What to change",
     "Changes that would make a program need less HBM, each with predicted bytes and a range, and with a capacity the "
     "plan "
     "that fits.",
     mcp_answer_advise, of_advise},
    {"diff", "What changed",
     "What changed between two compiled programs at their peaks, by line and by buffer, to the byte: use it to verify "
     "a "
     "fix.",
     mcp_answer_diff, of_diff},
};

enum { TOOL_COUNT = sizeof tools / sizeof tools[0] };

const struct mcp_tool *mcp_tool_find(const char *name) {
    for (size_t i = 0; name && i < TOOL_COUNT; i++) {
        if (strcmp(tools[i].name, name) == 0) return &tools[i];
    }
    return NULL;
}

// --- The list ---

static json_t *schema_of(const struct argument *argument) {
    json_t *schema = json_pack("{s:s, s:s}", "type", argument->kind == TEXT ? "string" : "integer", "description",
                               argument->words);
    if (argument->kind == WHOLE) {
        json_object_set_new(schema, "minimum", json_integer(argument->min));
        json_object_set_new(schema, "maximum", json_integer(argument->max));
    }
    if (argument->choices) {
        json_t *choices = json_array();
        for (const char *const *one = argument->choices; *one; one++) json_array_append_new(choices, json_string(*one));
        json_object_set_new(schema, "enum", choices);
    }
    return schema;
}

static json_t *input_schema(const struct argument *arguments) {
    json_t *properties = json_object(), *needed = json_array();
    for (; arguments->name; arguments++) {
        json_object_set_new(properties, arguments->name, schema_of(arguments));
        if (arguments->is_needed) json_array_append_new(needed, json_string(arguments->name));
    }
    return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties, "required", needed,
                     "additionalProperties", 0);
}

static json_t *described(const struct mcp_tool *tool) {
    json_t *output = json_pack("{s:s, s:{s:{s:s, s:{s:s}, s:s}}, s:[s]}", "type", "object", "properties", "caveats",
                               "type", "array", "items", "type", "string", "description",
                               "What a figure of this answer must not be taken for.", "required", "caveats");
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:{s:s, s:b, s:b, s:b, s:b}}", "name", tool->name, "title", tool->title,
                     "description", tool->words, "inputSchema", input_schema(tool->arguments), "outputSchema", output,
                     "annotations", "title", tool->title, "readOnlyHint", 1, "destructiveHint", 0, "idempotentHint", 1,
                     "openWorldHint", 0);
}

json_t *mcp_tools_list(void) {
    json_t *list = json_array();
    for (size_t i = 0; i < TOOL_COUNT; i++) json_array_append_new(list, described(&tools[i]));
    return json_pack("{s:o}", "tools", list);
}

// --- A call ---

static const struct argument *find_argument(const struct mcp_tool *tool, const char *name) {
    for (const struct argument *one = tool->arguments; one->name; one++) {
        if (strcmp(one->name, name) == 0) return one;
    }
    return NULL;
}

static bool check_text(const struct argument *argument, const json_t *value, struct error *error) {
    if (!json_is_string(value))
        return error_set(error, ERROR_BAD_REQUEST, "The argument \"%s\" must be a text.", argument->name);
    if (!argument->choices) return true;
    for (const char *const *one = argument->choices; *one; one++) {
        if (strcmp(*one, json_string_value(value)) == 0) return true;
    }
    return error_set(error, ERROR_BAD_REQUEST, "The argument \"%s\" cannot be \"%.60s\"; the tool's schema says what.",
                     argument->name, json_string_value(value));
}

static bool check_whole(const struct argument *argument, const json_t *value, struct error *error) {
    json_int_t number = json_integer_value(value);
    if (json_is_integer(value) && number >= argument->min && number <= argument->max) return true;
    return error_set(error, ERROR_BAD_REQUEST, "The argument \"%s\" must be a whole number from %lld to %lld.",
                     argument->name, (long long)argument->min, (long long)argument->max);
}

static bool check(const struct mcp_tool *tool, const json_t *arguments, struct error *error) {
    const char *name;
    json_t *value;
    if (!json_is_object(arguments)) return error_set(error, ERROR_BAD_REQUEST, "\"arguments\" must be an object.");
    json_object_foreach((json_t *)(uintptr_t)arguments, name, value) {
        const struct argument *argument = find_argument(tool, name);
        if (!argument)
            return error_set(error, ERROR_BAD_REQUEST, "The tool %s has no argument \"%.60s\".", tool->name, name);
        if (!(argument->kind == TEXT ? check_text(argument, value, error) : check_whole(argument, value, error)))
            return false;
    }
    for (const struct argument *one = tool->arguments; one->name; one++) {
        if (one->is_needed && !json_object_get(arguments, one->name))
            return error_set(error, ERROR_BAD_REQUEST, "The tool %s needs the argument \"%s\".", tool->name, one->name);
    }
    return true;
}

static json_t *result_of(json_t *document, bool is_error) {
    char *text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_t *result = text ? json_pack("{s:[{s:s, s:s}], s:O, s:b}", "content", "type", "text", "text", text,
                                      "structuredContent", document, "isError", is_error)
                          : NULL;
    json_text_free(text);
    json_decref(document);
    return result;
}

static json_t *refusal(const struct error *error) {
    json_t *told = json_pack("{s:s, s:s, s:s?, s:o}", "code", error_code_name(error->code), "message", error->message,
                             "file", error->file[0] ? error->file : NULL, "offset",
                             error->offset >= 0 ? json_integer(error->offset) : json_null());
    json_t *document = json_pack("{s:o, s:[]}", "error", told, "caveats");
    return document ? result_of(document, true) : NULL;
}

// NULL where memory was refused since `before`: then rows may be missing in it anywhere, and letters in its text.
static json_t *whole(json_t *result, uint64_t before, struct error *error) {
    if (!memory_was_refused(before, error)) return result;
    json_decref(result);
    return NULL;
}

json_t *mcp_tool_call(const struct mcp_tool *tool, const json_t *arguments, struct mcp_call *call) {
    uint64_t before = memory_refusals();
    struct error error = {.offset = -1};
    json_t *none = json_object(), *document = NULL;
    call->arguments = arguments ? arguments : none;
    call->caveats = json_array();
    if (check(tool, call->arguments, &error)) document = tool->answer(call, &error);
    if (document) json_object_set(document, "caveats", call->caveats);
    json_t *result = whole(document ? result_of(document, false) : refusal(&error), before, &error);
    uint64_t again = memory_refusals();
    json_decref(call->caveats);
    json_decref(none);
    return result ? result : whole(refusal(&error), again, &error);
}
