#define _DEFAULT_SOURCE  // strerror's texts, prctl
#include "server/sandbox/sandbox.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include "analysis/base/text_writer.h"
#include "server/sandbox/call_rules.h"

static bool has_right(const struct sandbox_needs *needs, enum file_right right) {
    for (size_t i = 0; i < needs->place_count; i++) {
        if (needs->places[i].right == right) return true;
    }
    return false;
}

#ifdef IS_INSTRUMENTED

struct sandbox sandbox_enter(const struct sandbox_needs *needs) {
    (void)needs;
    return (struct sandbox){.is_instrumented = true, .calls_failure = ENOSYS, .files = {.failure = ENOSYS}};
}

#else

struct sandbox sandbox_enter(const struct sandbox_needs *needs) {
    struct sandbox sandbox = {.privileges_failure = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno};
    sandbox.files = file_rules_impose(needs->places, needs->place_count, needs->connects);
    bool is_confined = sandbox.files.version != 0;  // else a removal could be of any file
    sandbox.calls_failure = call_rules_impose(
        (struct call_needs){.connects = needs->connects,
                            .keeps_files = has_right(needs, FILE_RIGHT_KEEP),
                            .removes_files = is_confined && has_right(needs, FILE_RIGHT_REMOVE)});
    return sandbox;
}

#endif

bool sandbox_holds(const struct sandbox *sandbox) {
    bool is_whole = !sandbox->privileges_failure && !sandbox->calls_failure && sandbox->files.version;
    return sandbox->is_instrumented || is_whole;
}

// --- Words ---

static void put_places(struct text_writer *text, const struct sandbox_needs *needs, enum file_right right,
                       const char *what) {
    const char *before = what;
    for (size_t i = 0; i < needs->place_count; i++) {
        if (needs->places[i].right != right) continue;
        text_put(text, before);
        text_put(text, needs->places[i].path);
        before = ", ";
    }
}

static void put_failure(struct text_writer *text, const char *before, int failure, const char *after) {
    text_put(text, before);
    text_put(text, strerror(failure));
    text_put(text, after);
}

static void put_calls(struct text_writer *text, const struct sandbox *sandbox, const struct sandbox_needs *needs) {
    if (sandbox->calls_failure) {
        put_failure(text, "its system calls are not filtered (seccomp: ", sandbox->calls_failure, ")");
        return;
    }
    text_put(text, "starts no programs");
    if (!needs->connects) text_put(text, ", opens no connections");
    if (!has_right(needs, FILE_RIGHT_KEEP)) text_put(text, ", writes no files");
    text_put(text, " (seccomp)");
}

static void put_files(struct text_writer *text, const struct sandbox *sandbox, const struct sandbox_needs *needs) {
    if (!sandbox->files.version) {
        put_failure(text, "; opens whatever its user can (landlock: ", sandbox->files.failure, ")");
        return;
    }
    text_put(text, has_right(needs, FILE_RIGHT_READ) ? "" : "; opens no files");
    put_places(text, needs, FILE_RIGHT_READ, "; opens only ");
    put_places(text, needs, FILE_RIGHT_KEEP, "; writes only to ");
    put_places(text, needs, FILE_RIGHT_REMOVE, "; removes files only of ");
    text_put(text, " (landlock ");
    text_put_int64(text, sandbox->files.version);
    text_put(text, ")");
}

const char *sandbox_text(const struct sandbox *sandbox, const struct sandbox_needs *needs, struct arena *arena) {
    if (sandbox->is_instrumented) return "Sandbox: none, for this is an instrumented build.";
    struct text_writer text = {.arena = arena};
    text_put(&text, "Sandbox: ");
    put_calls(&text, sandbox, needs);
    put_files(&text, sandbox, needs);
    text_put(&text, ".");
    return text_writer_finish(&text);
}
