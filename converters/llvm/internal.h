/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What LLVM's three formats share. */
#ifndef BR2_CONVERTERS_LLVM_INTERNAL_H
#define BR2_CONVERTERS_LLVM_INTERNAL_H

#include "base/cursor.h"
#include "converters/llvm/llvm.h"

/* A place's line offset has 16 bits; LLVM 22 refuses binary files that have more. */
#define BR2_LLVM_MAX_OFFSET 0xffffu

#define BR2_LLVM_VERSION    103
#define BR2_LLVM_MAGIC_SIZE 9
extern const uint8_t br2_llvm_magic_binary[BR2_LLVM_MAGIC_SIZE];
extern const uint8_t br2_llvm_magic_extbinary[BR2_LLVM_MAGIC_SIZE];
/* Whether the bytes begin with the magic of one of LLVM's binary formats, old ones included. */
bool br2_llvm_has_magic(const uint8_t *bytes, size_t size);

/* Any of the inlinees' ContextAttributes that says "should be inlined": then LLVM stores all. */
#define BR2_LLVM_SHOULD_BE_INLINED 2u

/* Names in the order of a name table. */
struct br2_llvm_names {
    const struct br2_profile *profile;
    uint32_t *order; /* owned: name numbers that occur, sorted */
    size_t count;
    uint32_t *places; /* owned: by name number: its place in `order` */
};
int br2_llvm_names_init(struct br2_llvm_names *names, const struct br2_profile *profile,
                        struct br2pgo_error *err);
void br2_llvm_names_done(struct br2_llvm_names *names);
/* The table of NUL-terminated strings; BR2PGO_UNSUPPORTED when a name contains a NUL. */
int br2_llvm_names_write(const struct br2_llvm_names *names, struct br2_buf *out,
                         struct br2pgo_error *err);
/* The table of 8-byte hashes. */
void br2_llvm_names_write_md5(const struct br2_llvm_names *names, struct br2_buf *out);
/* Whether a name contains ".__uniq.": a suffix the compiler must then keep. */
bool br2_llvm_names_have_uniq(const struct br2_llvm_names *names);

/* The top-level functions in the order LLVM writes them: total descending, then name. Owned by the
 * caller, freed with br2_free; NULL when memory runs out. */
const struct br2_function_profile **br2_llvm_function_order(const struct br2_profile *profile);

/* The call targets of a sample in LLVM's order: count descending, then name. `scratch` is grown as
 * needed, its items freed by the caller; NULL when memory runs out. */
struct br2_llvm_targets {
    struct br2_call_target *items;
    size_t capacity;
};
const struct br2_call_target *br2_llvm_target_order(const struct br2_profile *profile,
                                                    const struct br2_body_sample *sample,
                                                    struct br2_llvm_targets *scratch);

/* Binary parts. */
int br2_llvm_write_summary(const struct br2_profile *profile, struct br2_buf *out,
                           struct br2pgo_error *err);
struct br2_llvm_writer {
    const struct br2_profile *profile;
    const struct br2_llvm_names *names;
    struct br2_llvm_targets scratch;
    struct br2_buf *out;
};
/* A top-level function's record. False when memory runs out. */
bool br2_llvm_write_function(struct br2_llvm_writer *writer,
                             const struct br2_function_profile *function);

struct br2_llvm_reader {
    struct br2_profile *profile;
    struct br2_cursor cursor;
    const char *where; /* what the cursor's offsets count from: "the file", "the name table" ... */
    uint32_t *names;   /* owned: name numbers by their place in the file's table */
    size_t name_count;
    bool has_names;
};
void br2_llvm_reader_done(struct br2_llvm_reader *reader);
/* BR2PGO_CORRUPT with `what` and the place. */
int br2_llvm_corrupt(const struct br2_llvm_reader *reader, struct br2pgo_error *err,
                     const char *what);
/* Magic and version; BR2PGO_UNSUPPORTED for formats and versions that are known to be others. */
int br2_llvm_read_magic(struct br2_llvm_reader *reader, const uint8_t *magic,
                        struct br2pgo_error *err);
/* The summary's shape is checked; its numbers follow from the records. */
int br2_llvm_read_summary(struct br2_llvm_reader *reader, struct br2pgo_error *err);
int br2_llvm_read_names(struct br2_llvm_reader *reader, struct br2pgo_error *err);
int br2_llvm_read_names_md5(struct br2_llvm_reader *reader, bool fixed_length,
                            struct br2pgo_error *err);
/* A name by its place in the table. */
int br2_llvm_read_name(struct br2_llvm_reader *reader, uint32_t *ret, struct br2pgo_error *err);
int br2_llvm_read_place(struct br2_llvm_reader *reader, struct br2_place *ret,
                        struct br2pgo_error *err);
/* One top-level function's record, appended. `*ret_name` is its name. */
int br2_llvm_read_function(struct br2_llvm_reader *reader, uint32_t *ret_name,
                           struct br2pgo_error *err);

/* zlib as LLVM uses it: uncompressed size, compressed size, stream. Nothing for nothing. */
int br2_llvm_deflate(const struct br2_buf *in, struct br2_buf *out, struct br2pgo_error *err);
/* The section `reader` stands at the start of, unpacked into fresh memory. */
int br2_llvm_inflate(struct br2_llvm_reader *reader, uint8_t **ret_bytes, size_t *ret_size,
                     struct br2pgo_error *err);

#endif
