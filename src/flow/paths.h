/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Ways through functions: from an entry, or from where a branch back leads, along forward branches
 * to the next branch back or the end of the function. What a call does in between is not part of
 * it. Of very many different ways the rare ones are forgotten from time to time, as in lossy
 * counting (Manku and Motwani, 2002): those that stay may be counted too low by `error`.
 */
#ifndef BR2_FLOW_PATHS_H
#define BR2_FLOW_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/strings.h"

struct br2_path {
    uint64_t start; /* address of the first instruction ... */
    uint64_t end;   /* ... and of the last */
    uint32_t function;
    uint32_t count;                     /* of taken branches within the function on the way */
    uint32_t edges[BR2_PATH_EDGES_MAX]; /* their numbers in the graph */
};

/* Zero-initialise, then use. */
struct br2_paths {
    struct br2_strings ways; /* struct br2_path as bytes, cut behind the last edge */
    uint64_t *counts;        /* owned; by their numbers */
    size_t capacity;
    size_t limit;   /* different ones at a time; 0: BR2_PATHS_MAX */
    uint64_t all;   /* counted */
    uint64_t error; /* by which a count may be too low */
    uint64_t cut;   /* that the history cut, or that are too long: not counted */
};

/* False when memory runs out. */
bool br2_paths_add(struct br2_paths *paths, const struct br2_path *path, uint64_t times);
/* The way of a number below ways.count. */
void br2_paths_get(const struct br2_paths *paths, size_t number, struct br2_path *ret);
void br2_paths_done(struct br2_paths *paths);

#endif
