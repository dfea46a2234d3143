// POST /api/v1/explain[?session=S&module=M&capacity=SIZE]: a log in the body, the document of explain_json.h back.
#pragma once

#include "server/http/reply.h"

enum { EXPLAIN_BODY_LIMIT_BYTES = 16 << 20 };

request_handler explain_api;
