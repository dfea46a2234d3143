// Who asks Google Cloud Storage. The first of these that there is, in the order of google-auth:
//
//     the file that GOOGLE_APPLICATION_CREDENTIALS names, else gcloud's application_default_credentials.json
//         authorized_user: its refresh token, at Google's token endpoint
//         service_account: a JWT signed by its private key (RS256), at the endpoint that it names
//     the metadata server of the instance (GCE_METADATA_HOST), unless NO_GCE_CHECK is "true"
//     nobody
#pragma once

#include "server/storage/environment.h"
#include "server/storage/identity.h"

// Reads nothing yet. NULL: no memory. `client` should not wait long: a metadata server is near or nowhere.
struct identity *identity_of_gcs(environment_reader *environment, struct http_client *client);
