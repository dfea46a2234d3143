// The bucket that a URL names, as the environment says how to reach it.
//
//     s3://bucket/prefix    AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL: path style there; else the region's own host
//     gs://bucket/prefix    STORAGE_EMULATOR_HOST, else storage.googleapis.com
//     https://host/a/name   a "bucket" of this one object
//
// Addresses with a password in them are refused: what is asked stands in messages.
#pragma once

#include "server/storage/environment.h"
#include "server/storage/object_service.h"

// Texts are on `arena`; bucket->identity and bucket->web are to be freed. `near` asks for credentials. *prefix: what
// follows the bucket's name, without "/" at its ends. ERROR_BAD_REQUEST: the URL names no bucket, and no object.
MUST_USE bool object_bucket_of_url(const char *url, environment_reader *environment, struct http_client *client,
                                   struct http_client *near, struct arena *arena, struct object_bucket *bucket,
                                   const char **prefix, struct error *error);
