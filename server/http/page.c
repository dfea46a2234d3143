#include "server/http/page.h"

#include <string.h>

#include "server/http/assets.h"

// A deep link ("/a/b") names the page's files relative to itself ("/a/assets/main.js"): they are at the root.
static bool redirect_to_root(struct request *request, const char *file, struct reply *reply, struct error *error) {
    static const char up[] = "../../../../../../../../";
    size_t up_size = 0;
    for (const char *at = strchr(request->path, '/'); at; at = strchr(at + 1, '/')) up_size += 3;
    up_size -= 3;  // relative to the folder, not to the file
    if (up_size >= sizeof up) return error_set(error, ERROR_NOT_FOUND, "The page is not that deep.");
    reply_short(reply, HTTP_SEE_OTHER, REPLY_TEXT, "");
    reply->location = arena_printf(&request->work.arena, "%.*s%s", (int)up_size, up, file);
    return reply->location || work_out_of_memory(error);
}

// The file that the path means: whatever has no dot is a deep link.
static const char *file_of(const struct request *request) {
    const char *path = request->path + strspn(request->path, "/");
    return strchr(path, '.') ? path : "index.html";
}

bool page_file(struct request *request, struct reply *reply, struct error *error) {
    const char *path = request->path + strspn(request->path, "/");
    const char *below = strstr(path, "/" ASSETS_HASHED);
    if (below && assets_are_embedded(below + 1)) return redirect_to_root(request, below + 1, reply, error);
    return assets_reply(request, file_of(request), reply, error);
}

bool page_is_at_hand(struct request *request) {
    return assets_are_at_hand(request, file_of(request));
}

bool page_icon(struct request *request, struct reply *reply, struct error *error) {
    if (assets_reply(request, "favicon.ico", reply, error)) return true;
    reply_short(reply, HTTP_NO_CONTENT, REPLY_TEXT, "");
    return true;
}
