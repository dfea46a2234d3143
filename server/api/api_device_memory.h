// GET /api/v1/device_memory and /api/v1/device_memory/profile: who holds memory on the devices, by Python stack.
#pragma once

#include "server/http/reply.h"

request_handler api_device_memory, api_device_memory_profile;
