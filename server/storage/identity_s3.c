#include "server/storage/identity_s3.h"

#include <stdlib.h>

#include "analysis/base/text_scan.h"
#include "server/storage/identity_ask.h"
#include "server/storage/ini_text.h"
#include "server/storage/json_answer.h"
#include "server/storage/object_page.h"
#include "server/storage/small_file.h"

#define INSTANCE_SERVER "http://169.254.169.254"
#define CONTAINER_SERVER "http://169.254.170.2"
#define ROLES_PATH "/latest/meta-data/iam/security-credentials/"

struct s3_state {
    environment_reader *environment;
};

static const char *get(const struct identity *identity, const char *name) {
    const struct s3_state *state = identity_state(identity);
    return environment_get(state->environment, name);
}

static bool no_memory(struct error *error) {
    return error_set(error, ERROR_TOO_BIG, "no memory left for the credentials");
}

// --- Environment and files ---

static bool of_environment(struct identity *identity, struct arena *arena, struct identity_keys *keys) {
    keys->access_key = get(identity, "AWS_ACCESS_KEY_ID");
    keys->secret = get(identity, "AWS_SECRET_ACCESS_KEY");
    keys->session_token = get(identity, "AWS_SESSION_TOKEN");
    if (!keys->access_key || !keys->secret) return false;
    keys->who = arena_printf(arena, "the access key %.64s (of AWS_ACCESS_KEY_ID)", keys->access_key);
    return true;
}

// A file of AWS's tools: named by a variable, or in the home folder. False: there is none.
static bool read_settings(environment_reader *environment, const char *variable, const char *below_home,
                          struct arena *arena, struct bytes *content) {
    const char *home = environment_get(environment, "HOME"), *path = environment_get(environment, variable);
    struct error ignored;
    if (!path && home) path = arena_printf(arena, "%s/%s", home, below_home);
    return path && small_file_read(path, arena, content, &ignored);
}

static const char *profile_of(environment_reader *environment) {
    const char *profile = environment_get(environment, "AWS_PROFILE");
    return profile ? profile : "default";
}

static const char *value_of(struct bytes content, const char *section, const char *name, struct arena *arena) {
    struct bytes value;
    return ini_find(content, bytes_of(section), bytes_of(name), &value) ? arena_string(arena, value) : NULL;
}

static bool of_file(struct identity *identity, struct arena *arena, struct identity_keys *keys) {
    const struct s3_state *state = identity_state(identity);
    const char *profile = profile_of(state->environment);
    struct bytes content;
    if (!read_settings(state->environment, "AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials", arena, &content))
        return false;
    keys->access_key = value_of(content, profile, "aws_access_key_id", arena);
    keys->secret = value_of(content, profile, "aws_secret_access_key", arena);
    keys->session_token = value_of(content, profile, "aws_session_token", arena);
    if (!keys->access_key || !keys->secret) return false;
    keys->who = arena_printf(arena, "the access key %.64s (of profile %.64s)", keys->access_key, profile);
    return true;
}

// --- Servers ---

// {"AccessKeyId": .., "SecretAccessKey": .., "Token": .., "Expiration": ..}
static bool read_keys(struct bytes body, const char *what, struct arena *arena, struct identity_keys *keys,
                      int64_t *until_s, struct error *error) {
    json_t *document = json_answer_read(body);
    const char *until = json_answer_text(document, "Expiration", arena);
    keys->access_key = json_answer_text(document, "AccessKeyId", arena);
    keys->secret = json_answer_text(document, "SecretAccessKey", arena);
    keys->session_token = json_answer_text(document, "Token", arena);
    json_decref(document);
    if (!keys->access_key || !keys->secret) return error_set(error, ERROR_MALFORMED, "%s sent no keys for S3", what);
    *until_s = until ? object_time(bytes_of(until)) : 0;
    keys->who = arena_printf(arena, "the access key %.64s (of %s)", keys->access_key, what);
    return true;
}

static bool of_container(struct identity *identity, struct arena *arena, struct identity_keys *keys, int64_t *until_s,
                         struct error *error) {
    const char *full = get(identity, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
    const char *relative = get(identity, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    const char *token = get(identity, "AWS_CONTAINER_AUTHORIZATION_TOKEN");
    const char *token_file = get(identity, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    const char *url = relative ? arena_printf(arena, CONTAINER_SERVER "%s", relative) : full;
    struct http_question question = {.method = "GET", .about = "the container's credentials", .is_of_machine = true};
    struct bytes content;
    if (!url || !identity_address(url, arena, &question))
        return error_set(error, ERROR_BAD_REQUEST, "AWS_CONTAINER_CREDENTIALS_FULL_URI is no address");
    if (token_file && !small_file_read(token_file, arena, &content, error)) return false;
    if (token_file) token = arena_string(arena, text_take_until(&content, '\n'));
    if (token) (void)http_question_add(&question, "Authorization", token);
    return identity_ask(identity, &question, "", arena, &content, error) &&
           read_keys(content, "the container", arena, keys, until_s, error);
}

static bool of_instance(struct identity *identity, struct arena *arena, struct identity_keys *keys, int64_t *until_s,
                        struct error *error) {
    const char *server = get(identity, "AWS_EC2_METADATA_SERVICE_ENDPOINT");
    struct http_question question = {.method = "PUT", .about = "the instance's credentials", .is_of_machine = true};
    struct bytes token, role, body;
    question.origin = server ? server : INSTANCE_SERVER;
    question.path = "/latest/api/token";
    (void)http_question_add(&question, "X-aws-ec2-metadata-token-ttl-seconds", "21600");
    if (!identity_ask(identity, &question, "", arena, &token, error)) return false;
    question.method = "GET";
    question.path = ROLES_PATH;
    question.headers[0] = (struct http_header){"X-aws-ec2-metadata-token", arena_string(arena, token)};
    if (!question.headers[0].value) return no_memory(error);
    if (!identity_ask(identity, &question, "", arena, &role, error)) return false;
    question.path = arena_printf(arena, ROLES_PATH "%.*s", (int)role.size, (const char *)role.data);
    if (!question.path) return no_memory(error);
    return identity_ask(identity, &question, "", arena, &body, error) &&
           read_keys(body, "the instance's role", arena, keys, until_s, error);
}

// --- The whole ---

static bool has_container(const struct identity *identity) {
    return get(identity, "AWS_CONTAINER_CREDENTIALS_FULL_URI") ||
           get(identity, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
}

static bool may_ask_instance(const struct identity *identity) {
    const char *disabled = get(identity, "AWS_EC2_METADATA_DISABLED");
    return !disabled || strcmp(disabled, "true") != 0;
}

static bool fetch(struct identity *identity, struct arena *arena, struct identity_keys *keys, int64_t *until_s,
                  struct error *error) {
    struct error ignored;
    if (of_environment(identity, arena, keys) || of_file(identity, arena, keys))
        return keys->who ? true : no_memory(error);
    if (has_container(identity)) return of_container(identity, arena, keys, until_s, error);
    if (may_ask_instance(identity) && of_instance(identity, arena, keys, until_s, &ignored)) return true;
    *keys = (struct identity_keys){.who = "nobody: neither AWS_ACCESS_KEY_ID, nor a profile in ~/.aws/credentials, nor "
                                          "a role of this machine was found"};
    return true;
}

struct identity *identity_of_s3(environment_reader *environment, struct http_client *client) {
    struct s3_state *state = calloc(1, sizeof *state);
    if (!state) return NULL;
    state->environment = environment;
    return identity_new(client, fetch, state);
}

const char *s3_region(environment_reader *environment, struct arena *arena) {
    const char *region = environment_get(environment, "AWS_REGION"), *profile = profile_of(environment);
    struct bytes content;
    if (!region) region = environment_get(environment, "AWS_DEFAULT_REGION");
    if (!region && read_settings(environment, "AWS_CONFIG_FILE", ".aws/config", arena, &content)) {
        bool is_default = strcmp(profile, "default") == 0;
        const char *section = is_default ? profile : arena_printf(arena, "profile %s", profile);
        region = section ? value_of(content, section, "region", arena) : NULL;
    }
    return region ? region : "us-east-1";
}
