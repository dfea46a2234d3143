#include "server/command/format.h"

const struct flag_choice format_choices[] = {
    {"text", FORMAT_TEXT}, {"json", FORMAT_JSON}, {"csv", FORMAT_CSV}, {"markdown", FORMAT_MARKDOWN}, {NULL, 0}};

const struct flag_choice format_choices_without_csv[] = {
    {"text", FORMAT_TEXT}, {"json", FORMAT_JSON}, {"markdown", FORMAT_MARKDOWN}, {NULL, 0}};
