// Any bytes as a profile file: the index ends, and all it names lies inside the file; what it holds besides programs
// keeps to its limits.
#include <stdlib.h>

#include "analysis/input/trace_contents.h"
#include "analysis/input/xspace_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARENA_BYTES = 64 << 20, MAX_CONTENT_BYTES = 16 << 20 };

static void require(bool holds) {
    if (!holds) abort();
}

static void check_error(bool ok, const struct error *error, uint64_t content_size) {
    if (ok) return;
    require(error->code > ERROR_NONE && error->code < ERROR_CODE_COUNT);
    require(error->message[0] && error->file[0]);
    require(error->offset >= -1 && error->offset <= (int64_t)content_size);
}

// The program's blob is inside the content, and can be read.
static void check_program(const struct xspace_program *program, struct byte_source *source, uint64_t content_size) {
    struct error error;
    uint8_t last;
    require(program->offset <= content_size && program->size_bytes <= content_size - program->offset);
    require(program->name.size >= program->module_name.size);
    if (program->size_bytes)
        require(byte_source_read(source, program->offset + program->size_bytes - 1, &last, 1, &error));
}

static void check_index(const struct xspace_index *index, struct byte_source *source, uint64_t content_size) {
    for (size_t i = 0; i < index->program_count; i++) {
        check_program(&index->programs[i], source, content_size);
        for (size_t k = 0; k < i && i < 100; k++)
            require(!bytes_equal(index->programs[i].name, index->programs[k].name));
        require(i == 0 || index->programs[i].offset >= index->programs[i - 1].offset);
    }
    for (size_t i = 0; i < index->plane_count; i++) {
        const struct xspace_plane *plane = &index->planes[i];
        require(plane->offset <= content_size && plane->size_bytes <= content_size - plane->offset);
    }
    require(index->warning_count <= XSPACE_MAX_WARNINGS);
}

static void check_device(const struct trace_device *device) {
    require(device->memory_bytes > 0 || (device->memory_bytes == 0 && device->type.size > 0));
    require(device->type.size <= TRACE_TYPE_MAX_BYTES && device->plane.size <= TRACE_TYPE_MAX_BYTES);
    require(!device->plane.size || bytes_starts_with(device->plane, BYTES("/device:")));
}

// Of a damaged file, too: it tells what stands before the damage.
static void check_contents(struct byte_source *source, const struct xspace_index *index, struct arena *arena) {
    struct trace_contents contents;
    struct error error;
    require(trace_contents_read(source, index, arena, &contents, &error) || error.code == ERROR_TOO_BIG);
    require(contents.device_count <= TRACE_MAX_DEVICES && contents.device_count <= index->plane_count);
    for (size_t i = 0; i < contents.device_count; i++) check_device(&contents.devices[i]);
}

static void check_both(struct byte_source *source, struct arena *arena, uint64_t content_size) {
    struct xspace_index index;
    struct error error;
    bool ok = xspace_index_read(source, arena, &index, &error);
    check_error(ok, &error, content_size);
    check_index(&index, source, content_size);
    check_contents(source, &index, arena);
    ok = xspace_index_hlo_file(source, arena, &index, &error);
    check_error(ok, &error, content_size);
    require(!ok || (index.program_count == 1 && index.programs[0].name.size > 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error;
    struct arena arena;
    uint64_t content_size, reached;
    struct byte_source *source = byte_source_of_memory((struct bytes){data, size}, "input.xplane.pb", &error);
    require(source != NULL);
    bool is_whole = byte_source_reach(source, MAX_CONTENT_BYTES, &reached, &error);
    check_error(is_whole, &error, reached);
    if (!is_whole || reached < MAX_CONTENT_BYTES) {  // else a gzip bomb: bounded, but slow
        require(byte_source_size(source, &content_size, &error) == is_whole);
        require(content_size == reached);
        arena_init(&arena, ARENA_BYTES);
        check_both(source, &arena, content_size);
        arena_free(&arena);
    }
    byte_source_close(source);
    return 0;
}
