// Runs a fuzz target over files without a fuzzer: the corpus is replayed in every `make check`, by any compiler.
//
//     fuzz_xspace FILE|FOLDER ...          each file as it is, then deterministic mutations of it
//
// The mutations (cut short, bytes changed, a stretch copied elsewhere) are the same in every run: a failure is
// reproducible. With HBMVIEW_FUZZ_VERBOSE in the environment each file is named before it runs: on a crash, set it.
// HBMVIEW_FUZZ_MUTATIONS is the most of them for each file, where a run is slow (valgrind).
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MUTATED_BYTES_PER_FILE = 1 << 22, MOST_MUTATIONS = 400, MAX_PATH_BYTES = 4096, MAX_FILE_BYTES = 1 << 24 };

struct replay {
    size_t inputs, mutations, most_per_file;
    bool verbose;
};

// xorshift64: the same numbers everywhere.
static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t below(uint64_t *state, size_t limit) {
    return (size_t)(next_random(state) % limit);
}

// Runs the target on a copy of exactly this size, so that AddressSanitizer sees a read past the end.
static void run(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) abort();
    if (size) memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static size_t mutate(uint8_t *data, size_t size, uint64_t *state) {
    static const uint8_t telling[] = {0x00, 0x01, 0x7f, 0x80, 0xff, 0x08, 0x0a, 0x12};
    size_t changes = 1 + below(state, 4);
    for (size_t i = 0; i < changes; i++) {
        size_t at = below(state, size);
        data[at] = below(state, 2) ? (uint8_t)next_random(state) : telling[below(state, sizeof telling)];
    }
    if (below(state, 4) == 0) {
        size_t length = 1 + below(state, size), from = below(state, size - length + 1);
        memmove(data + below(state, size - length + 1), data + from, length);
    }
    return below(state, 3) ? size : 1 + below(state, size);
}

static void run_mutations(struct replay *replay, const uint8_t *data, size_t size) {
    if (size == 0) return;
    uint8_t *work = malloc(size);
    if (!work) abort();
    uint64_t state = 0x9e3779b97f4a7c15u ^ size;
    size_t count = MUTATED_BYTES_PER_FILE / size;
    if (count > replay->most_per_file) count = replay->most_per_file;
    for (size_t i = 0; i < count; i++, replay->mutations++) {
        memcpy(work, data, size);
        run(work, mutate(work, size, &state));
    }
    free(work);
}

static bool replay_file(struct replay *replay, const char *path, size_t size) {
    if (replay->verbose) fprintf(stderr, "%s\n", path);
    uint8_t *data = malloc(size ? size : 1);
    FILE *in = data && size <= MAX_FILE_BYTES ? fopen(path, "rb") : NULL;
    bool ok = in && fread(data, 1, size, in) == size;
    if (in) fclose(in);
    if (ok) {
        run(data, size);
        replay->inputs++;
        run_mutations(replay, data, size);
    } else {
        fprintf(stderr, "%s: cannot be read, or over %d bytes\n", path, MAX_FILE_BYTES);
    }
    free(data);
    return ok;
}

static bool replay_path(struct replay *replay, const char *path) {
    struct stat status;
    if (stat(path, &status)) {
        fprintf(stderr, "%s: not there\n", path);
        return false;
    }
    if (!S_ISDIR(status.st_mode)) return replay_file(replay, path, (size_t)status.st_size);
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    bool ok = count >= 0;
    for (int i = 0; i < count; i++) {
        char inner[MAX_PATH_BYTES];
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') ok = replay_path(replay, inner) && ok;
        free(entries[i]);
    }
    if (count >= 0) free(entries);
    return ok;
}

int main(int argc, char **argv) {
    const char *most = getenv("HBMVIEW_FUZZ_MUTATIONS");
    struct replay replay = {.verbose = getenv("HBMVIEW_FUZZ_VERBOSE") != NULL,
                            .most_per_file = most ? strtoul(most, NULL, 10) : MOST_MUTATIONS};
    bool ok = true;
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) ok = replay_path(&replay, argv[i]) && ok;
    printf("%zu inputs, %zu mutations\n", replay.inputs, replay.mutations);
    return ok ? 0 : 1;
}
