#include "server/storage/identity_gcs.h"

#include <stdlib.h>
#include <time.h>

#include "server/storage/identity_ask.h"
#include "server/storage/json_answer.h"
#include "server/storage/jwt.h"
#include "server/storage/small_file.h"
#include "server/storage/url_text.h"

#define TOKEN_ENDPOINT "https://oauth2.googleapis.com/token"
#define METADATA_HOST "metadata.google.internal"
#define READ_SCOPE "https://www.googleapis.com/auth/devstorage.read_only"
#define TOKEN_PATH "/computeMetadata/v1/instance/service-accounts/default/token"

enum { JWT_SECONDS = 3600, TOKEN_SECONDS_MAX = 24 * 3600 };

struct gcs_state {
    environment_reader *environment;
};

static const char *get(const struct identity *identity, const char *name) {
    const struct gcs_state *state = identity_state(identity);
    return environment_get(state->environment, name);
}

static bool no_memory(struct error *error) {
    return error_set(error, ERROR_TOO_BIG, "no memory left for the credentials");
}

// {"access_token": .., "expires_in": 3599}
static bool read_token(struct bytes body, const char *who, struct arena *arena, struct identity_keys *keys,
                       int64_t *until_s, struct error *error) {
    json_t *document = json_answer_read(body);
    int64_t seconds = json_integer_value(json_object_get(document, "expires_in"));
    keys->bearer = json_answer_text(document, "access_token", arena);
    keys->who = who;
    json_decref(document);
    if (!keys->bearer) return error_set(error, ERROR_MALFORMED, "expected an access_token for %s", who);
    if (seconds > TOKEN_SECONDS_MAX) seconds = TOKEN_SECONDS_MAX;
    *until_s = (int64_t)time(NULL) + (seconds > 0 ? seconds : 0);
    return true;
}

// --- Files ---

// The file's fields, those of both kinds.
struct key_file {
    const char *path, *type;
    const char *client_id, *client_secret, *refresh_token;  // authorized_user
    const char *client_email, *private_key;                 // service_account
    const char *token_uri;                                  // where either asks; NULL: Google
};

// An emulator is spoken to without TLS and is not Google: it gets those credentials that were named for it, not those
// that happen to be on this machine.
static bool is_emulated(const struct identity *identity) {
    return get(identity, "STORAGE_EMULATOR_HOST");
}

static const char *path_of(const struct identity *identity, struct arena *arena) {
    const char *named = get(identity, "GOOGLE_APPLICATION_CREDENTIALS");
    const char *folder = get(identity, "CLOUDSDK_CONFIG"), *home = get(identity, "HOME");
    if (named || is_emulated(identity)) return named;
    if (folder) return arena_printf(arena, "%s/application_default_credentials.json", folder);
    return home ? arena_printf(arena, "%s/.config/gcloud/application_default_credentials.json", home) : NULL;
}

// False with ERROR_NOT_FOUND: there is no such file.
static bool read_file(const char *path, struct arena *arena, struct key_file *file, struct error *error) {
    struct bytes content;
    if (!small_file_read(path, arena, &content, error)) return false;
    json_t *document = json_answer_read(content);
    const struct {
        const char *name, **place;
    } fields[] = {{"type", &file->type},
                  {"client_id", &file->client_id},
                  {"client_secret", &file->client_secret},
                  {"refresh_token", &file->refresh_token},
                  {"client_email", &file->client_email},
                  {"private_key", &file->private_key},
                  {"token_uri", &file->token_uri}};
    file->path = path;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        *fields[i].place = json_answer_text(document, fields[i].name, arena);
    json_decref(document);
    return file->type || error_in(error, ERROR_MALFORMED, path, ERROR_WHOLE_FILE, "expected credentials in JSON");
}

// What to do when the token server finds the file's secrets no good.
static const char *advice_of(const struct key_file *file, struct arena *arena) {
    bool is_account = strcmp(file->type, "service_account") == 0;
    const char *why = is_account ? "was taken back, or the clock of this machine is wrong"
                                 : "has ended or was taken back; for a new one: gcloud auth application-default login";
    return arena_printf(arena, "the %s in %.200s %s", is_account ? "key" : "login", file->path, why);
}

static bool post(const struct identity *identity, const struct key_file *file, const char *form, struct arena *arena,
                 struct bytes *body, struct error *error) {
    const char *endpoint = file->token_uri ? file->token_uri : TOKEN_ENDPOINT, *advice = advice_of(file, arena);
    struct http_question question = {.method = "POST", .body = bytes_of(form), .about = "Google's access token"};
    if (!advice) return no_memory(error);
    if (!identity_address(endpoint, arena, &question))
        return error_set(error, ERROR_MALFORMED, "the token_uri of the credentials is no address");
    (void)http_question_add(&question, "Content-Type", "application/x-www-form-urlencoded");
    return identity_ask(identity, &question, advice, arena, body, error);
}

static bool of_user(const struct identity *identity, const struct key_file *file, struct arena *arena,
                    struct bytes *body, struct error *error) {
    if (!file->client_id || !file->client_secret || !file->refresh_token)
        return error_in(error, ERROR_MALFORMED, file->path, ERROR_WHOLE_FILE,
                        "expected client_id, client_secret and refresh_token of an authorized_user");
    const char *id = url_escape(bytes_of(file->client_id), URL_VALUE, arena);
    const char *secret = url_escape(bytes_of(file->client_secret), URL_VALUE, arena);
    const char *token = url_escape(bytes_of(file->refresh_token), URL_VALUE, arena);
    if (!id || !secret || !token) return no_memory(error);
    const char *form = arena_printf(arena, "grant_type=refresh_token&client_id=%s&client_secret=%s&refresh_token=%s",
                                    id, secret, token);
    return form ? post(identity, file, form, arena, body, error) : no_memory(error);
}

static bool of_account(const struct identity *identity, const struct key_file *file, struct arena *arena,
                       struct bytes *body, struct error *error) {
    const char *endpoint = file->token_uri ? file->token_uri : TOKEN_ENDPOINT, *token;
    int64_t now_s = (int64_t)time(NULL);
    if (!file->client_email || !file->private_key)
        return error_in(error, ERROR_MALFORMED, file->path, ERROR_WHOLE_FILE,
                        "expected client_email and private_key of a service_account");
    struct jwt_claims claims = {file->client_email, endpoint, READ_SCOPE, now_s, now_s + JWT_SECONDS};
    if (!jwt_make(&claims, file->private_key, arena, &token, error)) return error_in_file(error, file->path, 0);
    const char *form = arena_printf(arena,
                                    "grant_type=urn%%3Aietf%%3Aparams%%3Aoauth%%3Agrant-type%%3Ajwt-bearer"
                                    "&assertion=%s",
                                    token);
    return form ? post(identity, file, form, arena, body, error) : no_memory(error);
}

static bool of_file(const struct identity *identity, const struct key_file *file, struct arena *arena,
                    struct identity_keys *keys, int64_t *until_s, struct error *error) {
    bool is_account = strcmp(file->type, "service_account") == 0;
    struct bytes body = BYTES("");
    if (!is_account && strcmp(file->type, "authorized_user") != 0)
        return error_in(error, ERROR_BAD_REQUEST, file->path, ERROR_WHOLE_FILE,
                        "credentials of type \"%.40s\" are not known here; authorized_user and service_account are",
                        file->type);
    if (is_account ? !of_account(identity, file, arena, &body, error) : !of_user(identity, file, arena, &body, error))
        return false;
    const char *who = is_account ? arena_printf(arena, "the service account %.120s", file->client_email)
                                 : arena_printf(arena, "the user of %.200s", file->path);
    return who ? read_token(body, who, arena, keys, until_s, error) : no_memory(error);
}

// --- The metadata server ---

static bool of_metadata(const struct identity *identity, struct arena *arena, struct identity_keys *keys,
                        int64_t *until_s, struct error *error) {
    const char *host = get(identity, "GCE_METADATA_HOST");
    struct http_question question = {
        .method = "GET", .path = TOKEN_PATH, .about = "the instance's access token", .is_of_machine = true};
    struct bytes body = BYTES("");
    question.origin = arena_printf(arena, "http://%s", host ? host : METADATA_HOST);
    (void)http_question_add(&question, "Metadata-Flavor", "Google");
    if (!question.origin) return no_memory(error);
    return identity_ask(identity, &question, "", arena, &body, error) &&
           read_token(body, "the service account of this machine", arena, keys, until_s, error);
}

static bool may_ask_metadata(const struct identity *identity) {
    const char *disabled = get(identity, "NO_GCE_CHECK");
    bool is_named = get(identity, "GCE_METADATA_HOST");
    return (is_named || !is_emulated(identity)) && (!disabled || strcmp(disabled, "true") != 0);
}

// --- The whole ---

static bool fetch(struct identity *identity, struct arena *arena, struct identity_keys *keys, int64_t *until_s,
                  struct error *error) {
    const char *path = path_of(identity, arena);
    struct key_file file = {.type = NULL};
    struct error ignored;
    if (path && read_file(path, arena, &file, error)) return of_file(identity, &file, arena, keys, until_s, error);
    if (path && (error->code != ERROR_NOT_FOUND || get(identity, "GOOGLE_APPLICATION_CREDENTIALS"))) return false;
    if (may_ask_metadata(identity) && of_metadata(identity, arena, keys, until_s, &ignored)) return true;
    *keys = (struct identity_keys){.who = "nobody: neither GOOGLE_APPLICATION_CREDENTIALS, nor gcloud's application "
                                          "default credentials, nor a metadata server was found"};
    *until_s = 0;
    return true;
}

struct identity *identity_of_gcs(environment_reader *environment, struct http_client *client) {
    struct gcs_state *state = calloc(1, sizeof *state);
    if (!state) return NULL;
    state->environment = environment;
    return identity_new(client, fetch, state);
}
