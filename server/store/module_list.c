#include "server/store/module_list.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "server/store/work_each.h"

struct sighting {  // one program on one host
    const struct xspace_program *program;
    uint32_t host;
};

static int by_name_size_host(const void *left, const void *right) {
    const struct sighting *a = left, *b = right;
    int order = bytes_compare(a->program->name, b->program->name);
    if (order) return order;
    if (a->program->size_bytes != b->program->size_bytes)
        return a->program->size_bytes < b->program->size_bytes ? -1 : 1;
    return (a->host > b->host) - (a->host < b->host);
}

static int by_name_first_host(const void *left, const void *right) {
    const struct module_row *a = left, *b = right;
    int order = bytes_compare(a->program->name, b->program->name);
    return order ? order : (a->hosts[0] > b->hosts[0]) - (a->hosts[0] < b->hosts[0]);
}

static const struct error *keep_error(struct arena *arena, const struct error *error) {
    struct error *kept = arena_new(arena, struct error, 1);
    if (kept) *kept = *error;
    return kept;
}

struct hosts_reading {
    const struct session *session;
    struct module_list *list;
    atomic_bool is_out_of_memory;
};

// A host that cannot be read, or not to its end, has its error; its whole programs are listed all the same.
static void read_host(struct work *work, void *context, size_t i) {
    struct hosts_reading *reading = context;
    struct module_host *host = &reading->list->hosts[i];
    struct error problem;
    const struct input_file *now = file_store_look(work, reading->session, i, &problem);
    const struct file_index *indexed = now ? module_store_index(work, now, &problem) : NULL;
    host->file = now ? now : &reading->session->files.files[i];
    host->index = indexed ? &indexed->index : NULL;
    host->module_count = indexed ? indexed->index.program_count : 0;
    const struct error *fault = indexed ? indexed->fault : &problem;
    if (!fault) return;
    host->error = keep_error(&work->arena, fault);
    if (!host->error) atomic_store(&reading->is_out_of_memory, true);
}

static bool read_hosts(struct work *work, const struct session *session, struct module_list *list,
                       struct error *error) {
    struct hosts_reading reading = {session, list, false};
    bool is_good = work_each(work, read_host, &reading, list->host_count);
    return (is_good && !atomic_load(&reading.is_out_of_memory)) || work_out_of_memory(error);
}

// All programs of all hosts; those that may be one lie side by side, by host.
static struct sighting *sort_sightings(struct arena *arena, const struct module_list *list, size_t count) {
    struct sighting *sightings = arena_new(arena, struct sighting, count + 1);
    size_t used = 0;
    for (size_t host = 0; sightings && host < list->host_count; host++) {
        for (size_t k = 0; k < list->hosts[host].module_count; k++)
            sightings[used++] = (struct sighting){&list->hosts[host].index->programs[k], (uint32_t)host};
    }
    if (sightings) qsort(sightings, count, sizeof sightings[0], by_name_size_host);
    return sightings;
}

// Hosts run one program together; files that are one program each, and have it from different compiles, do not.
static bool is_same(const struct module_list *list, const struct module_row *row, const struct sighting *sighting) {
    return list->hosts[row->hosts[0]].file->kind == PROFILE_FILE_XPLANE &&
           row->program->size_bytes == sighting->program->size_bytes &&
           bytes_equal(row->program->name, sighting->program->name);
}

static bool merge(struct arena *arena, const struct sighting *sightings, size_t count, struct module_list *list) {
    list->rows = arena_new(arena, struct module_row, count + 1);
    uint32_t *hosts = arena_new(arena, uint32_t, count + 1);
    if (!list->rows || !hosts) return false;
    for (size_t i = 0; i < count; i++) {
        struct module_row *last = list->row_count ? &list->rows[list->row_count - 1] : NULL;
        if (!last || !is_same(list, last, &sightings[i])) {
            last = &list->rows[list->row_count++];
            *last = (struct module_row){sightings[i].program, &hosts[i], 0, 0};
        }
        last->hosts[last->host_count++] = sightings[i].host;
    }
    if (list->row_count) qsort(list->rows, list->row_count, sizeof list->rows[0], by_name_first_host);
    return true;
}

// --- Families ---

// The hosts that have some row of the family that is being gathered.
struct gathering {
    const struct module_list *list;
    uint32_t *seen;  // by host: the family that has it, counted from 1
    uint32_t family;
};

static bool may_join(const struct gathering *gathering, const struct module_row *row) {
    for (uint32_t i = 0; i < row->host_count; i++) {
        if (gathering->seen[row->hosts[i]] == gathering->family + 1) return false;
    }
    return true;
}

static void join(const struct gathering *gathering, struct module_row *row) {
    row->family = gathering->family;
    for (uint32_t i = 0; i < row->host_count; i++) gathering->seen[row->hosts[i]] = gathering->family + 1;
}

static bool is_like(const struct module_list *list, const struct module_row *a, const struct module_row *b) {
    if (list->hosts[a->hosts[0]].file->kind != PROFILE_FILE_XPLANE) return false;
    return bytes_equal(a->program->name, b->program->name) ||
           (a->program->size_bytes == b->program->size_bytes &&
            bytes_equal(a->program->module_name, b->program->module_name));
}

// Rows are in order of name, so that what may be one family lies side by side.
static bool find_families(struct arena *arena, struct module_list *list) {
    struct gathering gathering = {list, arena_new(arena, uint32_t, list->host_count + 1), 0};
    if (!gathering.seen) return false;
    for (size_t i = 0; i < list->row_count; i++) {
        struct module_row *row = &list->rows[i];
        bool goes_on = i > 0 && is_like(list, row, row - 1) && may_join(&gathering, row);
        if (i > 0 && !goes_on) gathering.family++;
        join(&gathering, row);
    }
    return true;
}

bool module_list_read(struct work *work, const struct session *session, struct module_list *list, struct error *error) {
    size_t file_count = session->files.file_count;
    *list = (struct module_list){.hosts = arena_new(&work->arena, struct module_host, file_count + 1),
                                 .host_count = file_count};
    if (!list->hosts) return work_out_of_memory(error);
    if (!read_hosts(work, session, list, error)) return false;
    size_t count = 0;
    for (size_t i = 0; i < file_count; i++) count += list->hosts[i].module_count;
    struct sighting *sightings = sort_sightings(&work->arena, list, count);
    bool is_good = sightings && merge(&work->arena, sightings, count, list) && find_families(&work->arena, list);
    return is_good || work_out_of_memory(error);
}

// Hosts were looked at by whoever asks, and what else is told of them is of that version.
static const struct input_file *look_again(struct work *work, const struct session *session, size_t i,
                                           struct error *fault) {
    const struct input_file *listed = &session->files.files[i], *now = file_store_look(work, session, i, fault);
    if (!now || i >= session->files.host_count || file_version_equal(&now->version, &listed->version)) return now;
    error_in(fault, ERROR_UNREADABLE, now->path, ERROR_WHOLE_FILE, "%s changed while it was being read; try again.",
             now->path);
    return NULL;
}

bool module_list_has_any(const struct work *asker, const struct session *session, struct error *unsure) {
    struct work work;
    struct error fault;
    bool found = false;
    *unsure = (struct error){0};
    work_init_for(&work, asker);
    for (size_t i = 0; i < session->files.file_count && !found; i++) {
        const struct input_file *now = look_again(&work, session, i, &fault);
        const struct file_index *file = now ? module_store_index(&work, now, &fault) : NULL;
        found = file && file->index.program_count;
        if (!file && !file_store_is_lasting(&fault)) *unsure = fault;
    }
    work_free(&work);
    if (found) *unsure = (struct error){0};
    return found;
}
