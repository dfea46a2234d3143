#include "analysis/oom/oom_match.h"

#include <string.h>

#include "analysis/memory/buffer_description.h"
#include "analysis/oom/oom_loaded.h"

enum { TOLERANCE_DIVISOR = 10 };

static int64_t apart(int64_t a, int64_t b) {
    return a > b ? a - b : b - a;
}

// XLA:GPU names the program whose temporaries, one allocation, found no room.
static bool is_of_temporaries(const struct oom_message *message) {
    return message->kind == OOM_GPU_ALLOCATION && message->module;
}

int64_t oom_size_told(const struct oom_message *message) {
    bool is_request = message->kind == OOM_PROGRAM_LOAD || is_of_temporaries(message);
    return is_request ? message->requested_bytes : message->needed_bytes;
}

int64_t oom_size_of(const struct oom_message *message, const struct memory_totals *totals) {
    if (is_of_temporaries(message)) return totals->bytes[ALLOCATION_TEMPORARY];
    if (message->kind != OOM_PROGRAM_LOAD) return totals->total_bytes;
    return oom_loaded_program_of(NULL, totals, true).size_bytes;
}

int64_t oom_size_distance(const struct oom_message *message, const struct memory_totals *totals) {
    int64_t reserved = oom_message_row(message, "reserved"), program = oom_message_row(message, "program");
    int64_t told = oom_size_told(message), size = oom_size_of(message, totals);
    if (told == OOM_ABSENT) return OOM_ABSENT;
    int64_t counted = told - (reserved > 0 ? reserved : 0) - (program > 0 ? program : 0);
    int64_t whole = apart(size, told), bare = apart(size, counted);
    return counted > 0 && bare < whole ? bare : whole;
}

bool oom_is_size_near(const struct oom_message *message, const struct memory_totals *totals) {
    int64_t distance = oom_size_distance(message, totals);
    return distance == OOM_ABSENT || distance <= oom_size_told(message) / TOLERANCE_DIVISOR;
}

// --- By instruction ---

static const struct oom_entry *largest_entry(const struct oom_message *message) {
    const struct oom_entry *largest = NULL;
    for (size_t i = 0; i < message->entry_count; i++) {
        const struct oom_entry *entry = &message->entries[i];
        if (!largest || entry->size_bytes > largest->size_bytes) largest = entry;
    }
    return largest;
}

static bool is_name_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("_.-", c));
}

struct bytes oom_blamed_instruction(const struct oom_message *message, struct arena *arena) {
    static const char output_of[] = "output of ";
    const struct oom_entry *entry = largest_entry(message);
    const char *name = entry ? entry->label : NULL;
    size_t size = 0;
    if (!name || !entry->shape || !strchr(entry->shape, ']')) return (struct bytes){0};
    if (strncmp(name, output_of, sizeof output_of - 1) == 0) name += sizeof output_of - 1;
    if (name[0] == '%') name++;
    while (is_name_byte(name[size])) size++;
    const char *copy = arena_string(arena, (struct bytes){(const uint8_t *)name, size});
    return copy ? bytes_of(copy) : (struct bytes){0};
}

// "u8[327680,327680]" of "u8[327680,327680]{1,0:T(8,128)(4,1)}".
static struct bytes dimensions_of(struct bytes shape) {
    const uint8_t *close = shape.size ? memchr(shape.data, ']', shape.size) : NULL;
    return (struct bytes){shape.data, close ? (size_t)(close - shape.data) + 1 : 0};
}

bool oom_has_instruction(const struct oom_message *message, struct bytes instruction, const struct hlo_module *module,
                         struct arena *arena) {
    const struct oom_entry *entry = largest_entry(message);
    struct buffer_describer describer;
    if (!entry || !entry->shape || !instruction.size) return false;
    struct bytes dimensions = dimensions_of(bytes_of(entry->shape));
    if (!dimensions.size || !buffer_describer_init(&describer, module, MEMORY_VIEW_EXACT, arena)) return false;
    for (uint32_t i = 0; i < module->buffer_count; i++) {
        const struct hlo_buffer *buffer = &module->buffers[i];
        if (buffer->size_bytes != entry->size_bytes || buffer->color != 0) continue;
        struct buffer_description words = buffer_describe(&describer, i);
        if (bytes_equal(words.instruction, instruction) && bytes_equal(dimensions_of(words.shape), dimensions))
            return true;
    }
    return false;
}
