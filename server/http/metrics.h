// What those ask who keep a server running:
//
//     /healthz   200 as soon as the server answers; asks nothing else, and wants neither a token nor a known host
//     /metrics   counts since it began, in Prometheus' text format 0.0.4: answers by family and status, how long they
//                took, bytes, what the cache holds and has loaded, what was asked of a bucket
#pragma once

#include "server/http/reply.h"

bool metrics_health(struct request *request, struct reply *reply, struct error *error);
bool metrics_reply(struct request *request, struct reply *reply, struct error *error);
