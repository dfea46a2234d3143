// `hbmview report PATH --format=html`: the page itself in one file, with the data of one session (server/saving/).
#pragma once

#include "server/command/report_options.h"

enum exit_code report_html_run(const struct report_options *options);
