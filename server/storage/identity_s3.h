// Who asks S3. The first of these that there is:
//
//     AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
//     the profile (AWS_PROFILE, "default") of AWS_SHARED_CREDENTIALS_FILE, ~/.aws/credentials
//     a container's (AWS_CONTAINER_CREDENTIALS_FULL_URI or _RELATIVE_URI, with its AUTHORIZATION_TOKEN or _FILE)
//     an instance's metadata (IMDSv2, AWS_EC2_METADATA_SERVICE_ENDPOINT), unless AWS_EC2_METADATA_DISABLED is "true"
//     nobody
#pragma once

#include "server/storage/environment.h"
#include "server/storage/identity.h"

// Reads nothing yet. NULL: no memory. `client` should not wait long: an instance's metadata server is near or nowhere.
struct identity *identity_of_s3(environment_reader *environment, struct http_client *client);

// The region that environment and files name (AWS_REGION, AWS_DEFAULT_REGION, ~/.aws/config); "us-east-1" without one.
const char *s3_region(environment_reader *environment, struct arena *arena);
