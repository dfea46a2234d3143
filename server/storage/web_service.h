// One object on a web server, by its address: https://host/run/tpu-vm-0.xplane.pb, also one signed in its query.
//
//     GET bytes=0-0 ──> 206 bytes 0-0/361112345   read by ranges, like an object of a bucket
//                  └──> 200 and all of it         the server knows no ranges: kept, up to WEB_WHOLE_BYTES_MAX
//
// A web server has no lists: the address of a folder is refused. The version is the ETag, else the date of the last
// change; ranges are asked for on its condition, and every answer must bear it. A server that tells neither and knows
// no ranges is asked once. Redirects are followed, to http and https. No credentials are sent; what follows the "?" of
// an address may be a secret and stands in no message.
#pragma once

#include "server/storage/object_service.h"

enum { WEB_WHOLE_BYTES_MAX = 128 << 20 };

struct web_object;

const struct object_service *web_service(void);

// `name` of the object, `query` of its address; borrowed. NULL: no memory.
struct web_object *web_object_new(const char *name, const char *query);
void web_object_free(struct web_object *object);  // NULL is fine
