#include "server/xprof/xprof.h"

#include <string.h>

static const struct {
    const char *tag;
    request_handler *handler;
} tools[] = {
    {"memory_viewer", xprof_memory_viewer_reply},
    {"memory_profile", xprof_memory_profile_reply},
};

bool xprof_data(struct request *request, struct reply *reply, struct error *error) {
    const char *tag = request_query(request, "tag");
    for (size_t i = 0; tag && i < sizeof tools / sizeof tools[0]; i++) {
        if (strcmp(tools[i].tag, tag) == 0) return tools[i].handler(request, reply, error);
    }
    return error_set(error, ERROR_NOT_FOUND, "hbmview has no tool \"%.60s\" (the argument tag).", tag ? tag : "");
}
