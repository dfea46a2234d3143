#include "server/document/explain_document.h"

#include "server/document/advice_document.h"
#include "server/document/remark_fields.h"

// --- What the message says ---

#define FIGURE(name, row, member) FIELD_AS(name, row, member, FIELD_KNOWN)

static const struct field figure_fields[] = {
    FIGURE("needed_bytes", struct oom_message, needed_bytes),
    FIGURE("capacity_bytes", struct oom_message, capacity_bytes),
    FIGURE("exceeded_bytes", struct oom_message, exceeded_bytes),
    FIGURE("requested_bytes", struct oom_message, requested_bytes),
    FIGURE("free_bytes", struct oom_message, free_bytes),
    FIGURE("reservable_bytes", struct oom_message, reservable_bytes),
    FIGURE("tensorcore_bytes", struct oom_message, tensorcore_bytes),
    FIGURE("sparsecore_bytes", struct oom_message, sparsecore_bytes),
    FIELD_END,
};

static void write_figures(const struct oom_message *message, struct json_writer *w) {
    fields_write(w, figure_fields, message);
    json_open_object_key(w, "breakdown");
    for (size_t i = 0; i < message->row_count; i++) {  // as the message calls them
        json_write_text(w, message->rows[i].name);
        json_end_key(w);
        json_write_int64(w, message->rows[i].value);
    }
    json_close_object(w);
}

static const struct field entry_fields[] = {
    FIGURE("size_bytes", struct oom_entry, size_bytes),
    FIGURE("unpadded_bytes", struct oom_entry, unpadded_bytes),
    FIELD("op_name", struct oom_entry, op_name),
    FIELD("source", struct oom_entry, source),
    FIELD("shape", struct oom_entry, shape),
    FIELD("label", struct oom_entry, label),
    FIELD("allocation_type", struct oom_entry, allocation_type),
    FIELD_END,
};

static void write_entry(const struct oom_entry *entry, const char *link, struct json_writer *w) {
    json_open_object(w);
    fields_write(w, entry_fields, entry);
    json_write_text_key(w, "link", link);
    json_close_object(w);
}

static const char *words_of(struct bytes text, struct arena *scratch) {
    return text.size ? arena_string(scratch, text) : NULL;
}

// A buffer of the program in the words of a message.
static struct oom_entry entry_of(const struct oom_buffer *buffer, struct arena *scratch) {
    return (struct oom_entry){.size_bytes = buffer->size_bytes,
                              .unpadded_bytes = buffer->unpadded_bytes,
                              .op_name = words_of(buffer->words.op_name, scratch),
                              .source = buffer->source,
                              .shape = words_of(buffer->words.shape, scratch),
                              .label = words_of(buffer->words.name, scratch),
                              .allocation_type = allocation_category_name(buffer->category)};
}

static void write_largest(const struct explained *item, struct arena *scratch, struct json_writer *w) {
    const struct oom_message *message = item->message;
    bool is_listed = message->entry_count > 0, is_profile = !is_listed && item->is_same_size;
    json_open_array_key(w, "largest");
    for (size_t i = 0; i < message->entry_count; i++) write_entry(&message->entries[i], NULL, w);
    for (size_t i = 0; is_profile && i < item->join->evidence.largest_count; i++) {
        const struct oom_buffer *buffer = &item->join->evidence.largest[i];
        struct oom_entry entry = entry_of(buffer, scratch);
        write_entry(&entry, explain_link(item->join, buffer->logical_buffer_id, scratch), w);
    }
    json_close_array(w);
    json_write_text_key(w, "largest_from", is_listed ? "message" : is_profile ? "profile" : NULL);
}

// --- What we say ---

static const struct field change_fields[] = {
    FIELD("id", struct change, id),
    FIELD("text", struct change, text),
    FIELD("how", struct change, how),
    FIELD("changes_numerics", struct change, changes_numerics),
    FIELD_END,
};

static const struct field excluded_fields[] = {
    FIELD("id", struct oom_excluded, change.id),
    FIELD("name", struct oom_excluded, change.name),
    FIELD("why", struct oom_excluded, why),
    FIELD_END,
};

static void write_fix(const struct oom_fix *fix, int64_t capacity_bytes, struct json_writer *w) {
    static const struct advice_item unknown = {.saves_bytes = OOM_ABSENT,
                                               .predicted_total_bytes = OOM_ABSENT,
                                               .low_bytes = OOM_ABSENT,
                                               .high_bytes = OOM_ABSENT};
    const struct advice_item *item = fix->prediction ? fix->prediction : &unknown;
    const char *fit = advice_fit_name(item->low_bytes, item->high_bytes, fix->prediction ? capacity_bytes : 0);
    json_open_object(w);
    fields_write(w, change_fields, &fix->change);
    json_write_known_key(w, "saves_bytes", fix->prediction != NULL, item->saves_bytes);
    json_write_text_key(w, "name", fix->change.name);
    json_write_known_key(w, "ways", item->ways > 0, item->ways);
    json_write_known_key(w, "predicted_total_bytes", fix->prediction != NULL, item->predicted_total_bytes);
    json_write_known_key(w, "low_bytes", fix->prediction != NULL, item->low_bytes);
    json_write_known_key(w, "high_bytes", fix->prediction != NULL, item->high_bytes);
    json_write_text_key(w, "fit", fit);
    json_write_texts_key(w, "evidence", item->evidence, item->evidence_count);
    json_key(w, "understood");
    fix->prediction ? json_write_double(w, item->understood) : json_write_null(w);
    json_close_object(w);
}

static void write_fixes(const struct explained *item, struct json_writer *w) {
    const struct oom_diagnosis *diagnosis = &item->diagnosis;
    json_open_array_key(w, "fixes");
    for (size_t i = 0; i < diagnosis->fix_count; i++)
        write_fix(&diagnosis->fixes[i], item->advice ? item->advice->capacity_bytes : 0, w);
    json_close_array(w);
    fields_write_objects_key(w, "excluded", excluded_fields, diagnosis->excluded, diagnosis->excluded_count,
                             sizeof *diagnosis->excluded);
}

static const struct field total_fields[] = {
    FIELD("total_allocation_bytes", struct oom_evidence, totals.total_bytes),
    FIELD("peak_bytes", struct oom_evidence, peak_bytes),
    FIELD("padding_bytes", struct oom_evidence, padding_bytes),
    FIELD("argument_bytes", struct oom_evidence, argument_bytes),
    FIELD("output_bytes", struct oom_evidence, totals.bytes[ALLOCATION_OUTPUT]),
    FIELD("constant_bytes", struct oom_evidence, totals.bytes[ALLOCATION_CONSTANT]),
    FIELD("temporary_bytes", struct oom_evidence, totals.bytes[ALLOCATION_TEMPORARY]),
    FIELD_END,
};

static void write_replicated(const struct oom_evidence *evidence, struct json_writer *w) {
    json_open_array_key(w, "replicated_arguments");
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

// --- Who holds it, and where it was looked for ---

static const struct field holder_fields[] = {
    FIELD("key", struct oom_holder, key),
    FIELD("about", struct oom_holder, about),
    FIELD("size_bytes", struct oom_holder, size_bytes),
    FIELD("share", struct oom_holder, share),
    FIELD("buffers", struct oom_holder, buffers),
    FIELD("alike", struct oom_holder, alike),
    FIELD("alike_bytes", struct oom_holder, alike_bytes),
    FIELD_END,
};

static void write_holders(const struct oom_holders *holders, struct json_writer *w) {
    json_open_object_key(w, "who_holds");
    json_write_text_key(w, "from", holders->is_listed ? holders->count ? "message" : NULL : "profile");
    json_write_text_key(w, "by", holders->is_by_names ? "operation" : "line");
    fields_write_objects_key(w, "rows", holder_fields, holders->rows, holders->count, sizeof *holders->rows);
    json_write_int64_key(w, "left_out", (int64_t)holders->left_out);
    json_write_int64_key(w, "left_out_bytes", holders->left_out_bytes);
    json_close_object(w);
}

static const struct field loaded_fields[] = {
    FIELD("module", struct oom_loaded_program, module),
    FIELD("size_bytes", struct oom_loaded_program, size_bytes),
    FIELD("constant_bytes", struct oom_loaded_program, constant_bytes),
    FIELD("temporary_bytes", struct oom_loaded_program, temporary_bytes),
    FIELD("is_failing", struct oom_loaded_program, is_failing),
    FIELD_END,
};

static const struct field freed_fields[] = {
    FIELD("evicting_low_bytes", struct oom_loaded, evicting_low_bytes),
    FIELD("evicting_high_bytes", struct oom_loaded, evicting_high_bytes),
    FIELD("merging_high_bytes", struct oom_loaded, merging_high_bytes),
    FIELD_END,
};

static void write_loaded(const struct oom_loaded *loaded, struct json_writer *w) {
    if (!loaded->session) {
        json_write_text_key(w, "loaded_together", NULL);
        return;
    }
    json_open_object_key(w, "loaded_together");
    json_write_text_key(w, "session", loaded->session);
    json_write_text_key(w, "host", loaded->host);
    json_write_text_key(w, "basis", "reasoned");
    fields_write_objects_key(w, "programs", loaded_fields, loaded->programs, loaded->count, sizeof *loaded->programs);
    json_write_int64_key(w, "left_out", 0);
    json_write_int64_key(w, "left_out_bytes", 0);
    json_write_int64_key(w, "unread", (int64_t)loaded->unread);
    fields_write(w, freed_fields, loaded);
    json_write_texts_key(w, "notes", loaded->notes, loaded->note_count);
    json_close_object(w);
}

static void write_search(const struct explain_search *search, struct json_writer *w) {
    if (!search->has_begun) {
        json_write_text_key(w, "search", NULL);
        return;
    }
    json_open_object_key(w, "search");
    json_write_int64_key(w, "sessions", (int64_t)search->sessions);
    json_write_int64_key(w, "session_count", (int64_t)search->session_count);
    json_write_int64_key(w, "programs", (int64_t)search->programs);
    json_write_bool_key(w, "is_cut_short", search->is_cut_short);
    if (search->near_program) {
        json_open_object_key(w, "nearest");
        json_write_text_key(w, "session", search->near_session);
        json_key(w, "module");
        json_write_string(w, search->near_program->name);
        json_write_int64_key(w, "total_allocation_bytes", search->near_total_bytes);
        json_write_int64_key(w, "compared_bytes", search->near_size_bytes);
        json_close_object(w);
    } else {
        json_write_text_key(w, "nearest", NULL);
    }
    json_close_object(w);
}

static void write_join(const struct explained *item, struct arena *scratch, struct json_writer *w) {
    const struct explain_join *join = item->join;
    const struct oom_diagnosis *diagnosis = &item->diagnosis;
    if (!join) {
        json_write_text_key(w, "joined", NULL);
        return;
    }
    json_open_object_key(w, "joined");
    json_write_text_key(w, "session", join->session);
    json_write_text_key(w, "host", join->host);
    json_write_text_key(w, "module", join->module);
    json_write_text_key(w, "link", explain_link(join, -1, scratch));
    json_write_bool_key(w, "is_same_size", item->is_same_size);
    fields_write_object_key(w, "totals", total_fields, &join->evidence);
    write_replicated(&join->evidence, w);
    json_write_texts_key(w, "disagreements", diagnosis->disagreements, diagnosis->disagreement_count);
    json_close_object(w);
}

static void write_plan(const struct explained *item, struct json_writer *w) {
    if (item->advice && item->advice->capacity_bytes > 0)
        advice_plan_json_write(item->advice, w);
    else
        json_write_text_key(w, "plan", NULL);
}

static void write_holding(const struct explained *item, struct json_writer *w) {
    if (item->advice) {
        advice_holding_json_write(item->advice, w);
        return;
    }
    json_write_text_key(w, "held_by", NULL);
    json_write_text_key(w, "held_by_part", NULL);
}

static void write_message(const struct explained *item, struct arena *scratch, struct json_writer *w) {
    const struct oom_message *message = item->message;
    const struct oom_diagnosis *diagnosis = &item->diagnosis;
    int64_t over = explained_over_bytes(item);
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
    json_write_texts_key(w, "causes", diagnosis->causes, diagnosis->cause_count);
    write_fixes(item, w);
    write_join(item, scratch, w);
    write_plan(item, w);
    json_write_text_key(w, "allocator", message->allocator);
    json_write_text_key(w, "requested_by", message->requested_by);
    json_write_int64_key(w, "largest_left_out", (int64_t)message->entries_left_out);
    json_write_int64_key(w, "count", message->count);
    json_write_int64_key(w, "line", message->line);
    json_write_int64_key(w, "last_line", message->last_line);
    json_write_known_key(w, "over_bytes", over != OOM_ABSENT, over);
    write_holders(&item->holders, w);
    write_search(&item->search, w);
    write_loaded(&item->loaded, w);
    write_holding(item, w);
    json_close_object(w);
}

void explain_json_write(const struct explanation *explanation, struct arena *scratch, struct json_writer *w) {
    json_open_object(w);
    json_open_array_key(w, "messages");
    for (size_t i = 0; i < explanation->log.message_count; i++) write_message(&explanation->items[i], scratch, w);
    json_close_array(w);
    json_write_int64_key(w, "messages_left_out", (int64_t)explanation->log.left_out);
    json_write_text_key(w, "log_problem", explanation->broken);
    fields_write_objects_key(w, "unreadable", remark_fields, explanation->unreadable, explanation->unreadable_count,
                             sizeof *explanation->unreadable);
    json_close_object(w);
}
