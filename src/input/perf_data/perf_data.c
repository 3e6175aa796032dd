/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* perf.data as a kind of input: recognised, opened, closed. */
#include "input/perf_data/perf_data.h"

#define MAGIC_SIZE       8
#define PIPE_HEADER_SIZE 16

static const char magic_little[] = "PERFILE2";
static const char magic_big[] = "2ELIFREP";
static const char magic_old[] = "PERFFILE"; /* 2009 to 2012 */

static bool begins(const uint8_t *bytes, size_t size, const char *magic)
{
    return size >= MAGIC_SIZE && memcmp(bytes, magic, MAGIC_SIZE) == 0;
}

static bool probe(const uint8_t *bytes, size_t size)
{
    return begins(bytes, size, magic_little) || begins(bytes, size, magic_big) ||
           begins(bytes, size, magic_old);
}

static int refuse_cut(size_t size, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_CORRUPT, "a perf.data file that ends in its header, after %zu bytes",
             size);
    br2_hint(err, "the file is cut off: copy or record it again");
    return BR2PGO_CORRUPT;
}

/* The magic says it, but that of version 1 is the same in both byte orders: there it is the size
 * behind it that is small in one only. */
static bool is_big_endian(const uint8_t *bytes)
{
    if (begins(bytes, MAGIC_SIZE, magic_old)) {
        return br2_load_le64(bytes + MAGIC_SIZE) > UINT32_MAX;
    }
    return begins(bytes, MAGIC_SIZE, magic_big);
}

static const char *container_of(const struct br2_perf *perf)
{
    bool old = begins(perf->input->file.bytes, MAGIC_SIZE, magic_old);
    if (perf->input->parts_folder || perf->part_count > 0) {
        return "perf.data (directory mode)";
    }
    if (perf->pipe) {
        return old ? "perf.data (pipe mode, version 1)" : "perf.data (pipe mode)";
    }
    return old ? "perf.data (file mode, version 1)" : "perf.data (file mode)";
}

static uint64_t total_bytes(const struct br2_perf *perf)
{
    uint64_t total = (uint64_t)(perf->data_end - perf->data);
    for (size_t i = 0; i < perf->part_count; i++) {
        total += perf->parts[i].file.size;
    }
    return total;
}

static int open_perf_data(struct br2_input *input, struct br2pgo_error *err)
{
    const struct br2_file *file = &input->file;
    if (file->size < PIPE_HEADER_SIZE) {
        return refuse_cut(file->size, err);
    }
    struct br2_perf *perf = br2_calloc(1, sizeof *perf);
    if (!perf) {
        return br2_fail_memory(err);
    }
    input->state = perf;
    perf->input = input;
    perf->big_endian = is_big_endian(file->bytes);
    perf->swap = perf->big_endian == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    perf->convert_records = perf->swap || perf->big_endian;
    perf->pipe = br2_perf_u64(perf, file->bytes + MAGIC_SIZE) == PIPE_HEADER_SIZE;
    input->info.big_endian = perf->big_endian;
    int rc = perf->pipe ? br2_perf_open_pipe(perf, err) : br2_perf_open_file(perf, err);
    if (!rc) {
        rc = br2_perf_open_parts(perf, err);
    }
    if (!rc) {
        rc = br2_perf_finish_attrs(perf, err);
    }
    input->info.container = container_of(perf);
    input->total = total_bytes(perf);
    input->done = 0;
    return rc;
}

static void close_perf_data(struct br2_input *input)
{
    struct br2_perf *perf = input->state;
    if (!perf) {
        return;
    }
    br2_perf_zstd_free(perf->zstd);
    br2_perf_close_parts(perf);
    br2_perf_ids_done(&perf->ids);
    br2_free(perf->attrs);
    br2_free(perf->images);
    br2_free(perf->scratch);
    br2_free(perf);
}

const struct br2_input_format br2_perf_data_format = {
    .name = "perf.data",
    .probe = probe,
    .open = open_perf_data,
    .read_tasks = br2_perf_read_tasks,
    .read_samples = br2_perf_read_samples,
    .read_trace = br2_perf_read_trace,
    .close = close_perf_data,
};
