// Google Cloud Storage, by its JSON API.
#pragma once

#include "server/storage/object_service.h"

const struct object_service *gcs_service(void);
