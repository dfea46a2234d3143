#include "server/document/advice_json.h"
#include "server/document/explain_json.h"

static void write_figure(struct json_writer *w, const char *key, int64_t value) {
    json_key(w, key);
    if (value < 0)
        json_write_null(w);
    else
        json_write_int64(w, value);
}

static void write_words(struct json_writer *w, const char *key, struct bytes text) {
    json_key(w, key);
    if (text.size)
        json_write_string(w, text);
    else
        json_write_null(w);
}

static void write_texts(struct json_writer *w, const char *key, const char *const *texts, size_t count) {
    json_key(w, key);
    json_open_array(w);
    for (size_t i = 0; i < count; i++) json_write_text(w, texts[i]);
    json_close_array(w);
}

// --- What the message says ---

static void write_figures(const struct oom_message *message, struct json_writer *w) {
    write_figure(w, "needed_bytes", message->needed_bytes);
    write_figure(w, "capacity_bytes", message->capacity_bytes);
    write_figure(w, "exceeded_bytes", message->exceeded_bytes);
    write_figure(w, "requested_bytes", message->requested_bytes);
    write_figure(w, "free_bytes", message->free_bytes);
    write_figure(w, "reservable_bytes", message->reservable_bytes);
    write_figure(w, "tensorcore_bytes", message->tensorcore_bytes);
    write_figure(w, "sparsecore_bytes", message->sparsecore_bytes);
    json_key(w, "breakdown");
    json_open_object(w);
    for (size_t i = 0; i < message->row_count; i++)
        json_write_int64_key(w, message->rows[i].name, message->rows[i].value);
    json_close_object(w);
}

static void write_entry(const struct oom_entry *entry, struct json_writer *w) {
    json_open_object(w);
    write_figure(w, "size_bytes", entry->size_bytes);
    write_figure(w, "unpadded_bytes", entry->unpadded_bytes);
    json_write_text_key(w, "op_name", entry->op_name);
    json_write_text_key(w, "source", entry->source);
    json_write_text_key(w, "shape", entry->shape);
    json_write_text_key(w, "label", entry->label);
    json_write_text_key(w, "allocation_type", entry->allocation_type);
    json_write_text_key(w, "link", NULL);
    json_close_object(w);
}

static void write_buffer(const struct explain_join *join, const struct oom_buffer *buffer, struct arena *scratch,
                         struct json_writer *w) {
    json_open_object(w);
    write_figure(w, "size_bytes", buffer->size_bytes);
    write_figure(w, "unpadded_bytes", buffer->unpadded_bytes);
    write_words(w, "op_name", buffer->words.op_name);
    json_write_text_key(w, "source", buffer->source);
    write_words(w, "shape", buffer->words.shape);
    write_words(w, "label", buffer->words.name);
    json_write_text_key(w, "allocation_type", allocation_category_name(buffer->category));
    json_write_text_key(w, "link", explain_link(join, buffer->logical_buffer_id, scratch));
    json_close_object(w);
}

static void write_largest(const struct explained *item, struct arena *scratch, struct json_writer *w) {
    const struct oom_message *message = item->message;
    bool is_listed = message->entry_count > 0;
    json_key(w, "largest");
    json_open_array(w);
    for (size_t i = 0; i < message->entry_count; i++) write_entry(&message->entries[i], w);
    for (size_t i = 0; !is_listed && item->join && i < item->join->evidence.largest_count; i++)
        write_buffer(item->join, &item->join->evidence.largest[i], scratch, w);
    json_close_array(w);
    json_write_text_key(w, "largest_from", is_listed ? "message" : item->join ? "profile" : NULL);
}

// --- What we say ---

static void write_fixes(const struct oom_diagnosis *diagnosis, struct json_writer *w) {
    json_key(w, "fixes");
    json_open_array(w);
    for (size_t i = 0; i < diagnosis->fix_count; i++) {
        const struct oom_fix *fix = &diagnosis->fixes[i];
        json_open_object(w);
        json_write_text_key(w, "id", fix->id);
        json_write_text_key(w, "text", fix->text);
        json_write_text_key(w, "how", fix->how);
        json_write_bool_key(w, "changes_numerics", fix->changes_numerics);
        write_figure(w, "saves_bytes", fix->saves_bytes);
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_totals(const struct oom_evidence *evidence, struct json_writer *w) {
    const int64_t *bytes = evidence->totals.bytes;
    json_key(w, "totals");
    json_open_object(w);
    json_write_int64_key(w, "total_allocation_bytes", evidence->totals.total_bytes);
    json_write_int64_key(w, "peak_bytes", evidence->peak_bytes);
    json_write_int64_key(w, "padding_bytes", evidence->padding_bytes);
    json_write_int64_key(w, "argument_bytes", evidence->argument_bytes);
    json_write_int64_key(w, "output_bytes", bytes[ALLOCATION_OUTPUT]);
    json_write_int64_key(w, "constant_bytes", bytes[ALLOCATION_CONSTANT]);
    json_write_int64_key(w, "temporary_bytes", bytes[ALLOCATION_TEMPORARY]);
    json_close_object(w);
}

static void write_replicated(const struct oom_evidence *evidence, struct json_writer *w) {
    json_key(w, "replicated_arguments");
    json_open_array(w);
    for (size_t i = 0; i < evidence->largest_count; i++) {
        const struct oom_buffer *buffer = &evidence->largest[i];
        if (buffer->sharding != SHARDING_REPLICATED) continue;
        json_open_object(w);
        json_write_string_key(w, "name", buffer->words.op_name.size ? buffer->words.op_name : buffer->words.name);
        json_write_string_key(w, "shape", buffer->words.shape);
        json_write_int64_key(w, "size_bytes", buffer->size_bytes);
        json_write_int64_key(w, "sharded_bytes", oom_sharded_bytes(evidence, buffer));
        json_write_int64_key(w, "partitions", evidence->partitions);
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_join(const struct explained *item, struct arena *scratch, struct json_writer *w) {
    const struct explain_join *join = item->join;
    const struct oom_diagnosis *diagnosis = &item->diagnosis;
    json_key(w, "joined");
    if (!join) {
        json_write_null(w);
        return;
    }
    json_open_object(w);
    json_write_text_key(w, "session", join->session);
    json_write_text_key(w, "host", join->host);
    json_write_text_key(w, "module", join->module);
    json_write_text_key(w, "link", explain_link(join, -1, scratch));
    write_totals(&join->evidence, w);
    write_replicated(&join->evidence, w);
    write_texts(w, "disagreements", diagnosis->disagreements, diagnosis->disagreement_count);
    json_close_object(w);
}

static void write_plan(const struct explained *item, struct json_writer *w) {
    if (item->advice && item->advice->capacity_bytes > 0) {
        advice_plan_json_write(&item->advice->plan, w);
        return;
    }
    json_key(w, "plan");
    json_write_null(w);
}

static void write_message(const struct explained *item, struct arena *scratch, struct json_writer *w) {
    const struct oom_message *message = item->message;
    const struct oom_diagnosis *diagnosis = &item->diagnosis;
    json_open_object(w);
    json_write_text_key(w, "kind", oom_kind_name(message->kind));
    json_write_text_key(w, "error_code", message->error_code);
    json_write_text_key(w, "memory_space", message->memory_space);
    json_write_text_key(w, "module", message->module);
    write_figures(message, w);
    write_largest(item, scratch, w);
    json_write_text_key(w, "scenario", diagnosis->scenario);
    json_write_text_key(w, "scenario_reason", diagnosis->scenario_reason);
    json_write_text_key(w, "cause", diagnosis->cause);
    write_texts(w, "causes", diagnosis->causes, diagnosis->cause_count);
    write_fixes(diagnosis, w);
    write_join(item, scratch, w);
    write_plan(item, w);
    json_write_text_key(w, "allocator", message->allocator);
    json_write_text_key(w, "requested_by", message->requested_by);
    json_write_int64_key(w, "largest_left_out", (int64_t)message->entries_left_out);
    json_write_int64_key(w, "count", message->count);
    json_write_int64_key(w, "line", message->line);
    json_close_object(w);
}

void explain_json_write(const struct explanation *explanation, struct arena *scratch, struct json_writer *w) {
    json_open_object(w);
    json_key(w, "messages");
    json_open_array(w);
    for (size_t i = 0; i < explanation->log.message_count; i++) write_message(&explanation->items[i], scratch, w);
    json_close_array(w);
    json_write_int64_key(w, "messages_left_out", (int64_t)explanation->log.left_out);
    json_close_object(w);
}
