// Amazon's S3, and what speaks like it.
#pragma once

#include "server/storage/object_service.h"

const struct object_service *s3_service(void);
