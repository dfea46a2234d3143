#include "server/http/page.h"

#include <string.h>

#include "server/http/assets.h"

bool page_file(struct request *request, struct reply *reply, struct error *error) {
    const char *path = request->path + strspn(request->path, "/");
    bool is_file = strchr(path, '.') != NULL;
    return assets_reply(request, is_file ? path : "index.html", reply, error);
}

bool page_icon(struct request *request, struct reply *reply, struct error *error) {
    if (assets_reply(request, "favicon.ico", reply, error)) return true;
    reply_short(reply, HTTP_NO_CONTENT, REPLY_TEXT, "");
    return true;
}
