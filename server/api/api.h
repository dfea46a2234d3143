// The handlers of /api/v1, one file a resource (docs/api.md says what each answers). api_routes.c knows their paths.
#pragma once

#include "server/http/reply.h"

request_handler api_advise;
request_handler api_buffer;
request_handler api_buffer_hlo;
request_handler api_buffers;
request_handler api_check;
request_handler api_check_progress;
request_handler api_device_memory;
request_handler api_device_memory_across;
request_handler api_device_memory_profile;
request_handler api_devices;
request_handler api_events;
request_handler api_explain;
request_handler api_diff;
request_handler api_memory_groups;
request_handler api_memory_group_rows;
request_handler api_memory_overview;
request_handler api_memory_view;
request_handler api_modules;
request_handler api_openapi;
request_handler api_profile_across;
request_handler api_profile_breakdown;
request_handler api_profile_events;
request_handler api_profile_findings;
request_handler api_profile_held;
request_handler api_profile_modules;
request_handler api_profile_ops;
request_handler api_profile_overview;
request_handler api_profile_pressure;
request_handler api_profile_steps;
request_handler api_profile_timeline;
request_handler api_save;
request_handler api_server;
request_handler api_session;
request_handler api_sessions;
request_handler api_trend;
request_handler api_work;

// The largest log that api_explain takes.
enum { EXPLAIN_BODY_LIMIT_BYTES = 16 << 20 };

// The largest list of replies that a page hands to api_save, with the log that it was given.
enum { SAVE_BODY_LIMIT_BYTES = 17 << 20 };
