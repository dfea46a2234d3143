// A folder of its own for a test, under $TMPDIR or /tmp, removed with all that is in it.
#pragma once

#include "proto/bytes.h"

enum { TEMP_FOLDER_PATH_BYTES = 512 };

struct temp_folder {
    char path[TEMP_FOLDER_PATH_BYTES];
};

struct temp_path {
    char text[2 * TEMP_FOLDER_PATH_BYTES];
};

// Failures of these end the test program: a test cannot go on without its folder.
void temp_folder_make(struct temp_folder *folder);
void temp_folder_remove(struct temp_folder *folder);

struct temp_path temp_folder_path(const struct temp_folder *folder, const char *below);

// Both make the folders above.
void temp_folder_mkdir(const struct temp_folder *folder, const char *below);
void temp_folder_write(const struct temp_folder *folder, const char *below, struct bytes content);

void temp_folder_link(const struct temp_folder *folder, const char *below, const char *target);

// Sets the time of the last change to `age_s` seconds ago.
void temp_folder_set_age(const struct temp_folder *folder, const char *below, int age_s);
