// `hbmview report --trend`: one program, or memory, over all sessions of the PATH (server/trend/trend.h).
#pragma once

#include "server/command/report_options.h"

enum exit_code report_trend_run(const struct report_options *options);
