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

static int refuse_old(struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_UNSUPPORTED,
             "a perf.data file of version 1 (PERFFILE, 2009 to 2012), which cannot be read");
    br2_hint(err, "record again with a perf that is not that old");
    return BR2PGO_UNSUPPORTED;
}

static int refuse_cut(size_t size, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_CORRUPT, "a perf.data file that ends in its header, after %zu bytes",
             size);
    br2_hint(err, "the file is cut off: copy or record it again");
    return BR2PGO_CORRUPT;
}

static int open_perf_data(struct br2_input *input, struct br2pgo_error *err)
{
    const struct br2_file *file = &input->file;
    if (begins(file->bytes, file->size, magic_old)) {
        return refuse_old(err);
    }
    if (file->size < PIPE_HEADER_SIZE) {
        return refuse_cut(file->size, err);
    }
    struct br2_perf *perf = br2_calloc(1, sizeof *perf);
    if (!perf) {
        return br2_fail_memory(err);
    }
    input->state = perf;
    perf->input = input;
    perf->big_endian = begins(file->bytes, file->size, magic_big);
    perf->swap = perf->big_endian == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    perf->convert_records = perf->swap || perf->big_endian;
    perf->pipe = br2_perf_u64(perf, file->bytes + 8) == PIPE_HEADER_SIZE;
    input->info.big_endian = perf->big_endian;
    input->info.container = perf->pipe ? "perf.data (pipe mode)" : "perf.data (file mode)";

    int rc = perf->pipe ? br2_perf_open_pipe(perf, err) : br2_perf_open_file(perf, err);
    if (!rc) {
        rc = br2_perf_finish_attrs(perf, err);
    }
    input->total = (uint64_t)(perf->data_end - perf->data);
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
    .close = close_perf_data,
};
