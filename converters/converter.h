/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Formats br2pgo writes. Each is a constant table of operations; converters/registry.c is the only
 * list. A converter turns one of the products, the source profile, the edge table, the block flow
 * or the ranges of the flow graph, into bytes, and reads those bytes back.
 */
#ifndef BR2_CONVERTER_H
#define BR2_CONVERTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "flow/block_flow.h"
#include "flow/edge_table.h"
#include "flow/range_table.h"
#include "profile/profile.h"

enum br2_product {
    BR2_PRODUCT_PROFILE,
    BR2_PRODUCT_EDGES,
    BR2_PRODUCT_FLOW,
    BR2_PRODUCT_RANGES,
};

/* Options a format may honour; one that cannot says so in `capabilities`. */
struct br2_write_options {
    bool compress;         /* zlib-compress every section (llvm-extbinary) */
    bool md5;              /* names as MD5 hashes (llvm-extbinary) */
    bool symbol_list;      /* write the profile's symbol list (llvm-extbinary) */
    bool partial;          /* mark the profile partial (llvm-extbinary) */
    unsigned gcov_version; /* 1, 2 or 3; 0 is 2 (gcov) */
    int bolt_version;      /* major version of the BOLT it is for; 0: any (bolt-preagg) */
    bool to_look_at;       /* for people: also what a reader would misunderstand (llvm-text) */
};
#define BR2_CAN_COMPRESS     1u
#define BR2_CAN_MD5          2u
#define BR2_CAN_SYMBOL_LIST  4u
#define BR2_CAN_PARTIAL      8u
#define BR2_CAN_GCC_VERSION  16u /* is for one version of GCC (gcov) */
#define BR2_CAN_BOLT_VERSION 32u /* newer versions of BOLT take more (bolt-preagg) */

struct br2_format {
    const char *name;
    const char *suffixes[4]; /* with the dot, NULL-terminated; tried longest first */
    const char *description; /* one line for --help */
    enum br2_product product;
    bool gcc_rules;        /* the profile it holds follows the rules of GCC, not LLVM's */
    bool binary;           /* not for a terminal */
    bool runs;             /* of a flow it holds the runs, by their addresses */
    unsigned capabilities; /* BR2_CAN_* */

    /* Whether `bytes` are a file of this format, from its first bytes. */
    bool (*probe)(const uint8_t *bytes, size_t size);

    /* For BR2_PRODUCT_PROFILE. read adds to an empty profile. */
    int (*write_profile)(const struct br2_profile *profile, const struct br2_write_options *options,
                         struct br2_buf *out, struct br2pgo_error *err);
    int (*read_profile)(const uint8_t *bytes, size_t size, struct br2_profile *profile,
                        struct br2pgo_error *err);

    /* For BR2_PRODUCT_EDGES. */
    int (*write_edges)(const struct br2_edge_table *table, struct br2_buf *out,
                       struct br2pgo_error *err);
    int (*read_edges)(const uint8_t *bytes, size_t size, struct br2_edge_table *table,
                      struct br2pgo_error *err);

    /* For BR2_PRODUCT_FLOW. check_flow reads what was written; `text` says where it is not what the
     * flow says, "" where it is. */
    int (*write_flow)(const struct br2_block_flow *flow, const struct br2_write_options *options,
                      struct br2_buf *out, struct br2pgo_error *err);
    int (*check_flow)(const uint8_t *bytes, size_t size, const struct br2_block_flow *flow,
                      char *text, size_t text_size, struct br2pgo_error *err);

    /* For BR2_PRODUCT_RANGES, the same. */
    int (*write_ranges)(const struct br2_range_table *table, struct br2_buf *out,
                        struct br2pgo_error *err);
    int (*check_ranges)(const uint8_t *bytes, size_t size, const struct br2_range_table *table,
                        char *text, size_t text_size);
};

/* All formats, NULL-terminated. */
extern const struct br2_format *const br2_formats[];
const struct br2_format *br2_format_by_name(const char *name);
const struct br2_format *br2_format_by_suffix(const char *path);
const struct br2_format *br2_format_by_content(const uint8_t *bytes, size_t size);
/* By whose rules the profile is, for messages: "GCC" or "LLVM". */
const char *br2_format_rules(const struct br2_format *format);

/*
 * Encodes with the matching write operation, reads the result back and compares.
 * Errors: those of the writer; BR2PGO_INTERNAL when the bytes do not say what went in.
 */
int br2_format_encode_profile(const struct br2_format *format, const struct br2_profile *profile,
                              const struct br2_write_options *options, struct br2_buf *out,
                              struct br2pgo_error *err);
int br2_format_encode_edges(const struct br2_format *format, const struct br2_edge_table *table,
                            struct br2_buf *out, struct br2pgo_error *err);
int br2_format_encode_flow(const struct br2_format *format, const struct br2_block_flow *flow,
                           const struct br2_write_options *options, struct br2_buf *out,
                           struct br2pgo_error *err);
int br2_format_encode_ranges(const struct br2_format *format, const struct br2_range_table *table,
                             struct br2_buf *out, struct br2pgo_error *err);

#endif
