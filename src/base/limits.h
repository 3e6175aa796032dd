/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How much of anything is taken from a file. Every limit is far above what real files hold, and
 * bounds what one that lies can cost; docs/reliability.md says what happens at each of them. Sizes
 * and counts that a file gives are beside that always held against what is left of the file.
 */
#ifndef BR2_BASE_LIMITS_H
#define BR2_BASE_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* Memory. */

/* The least that --max-memory takes: below, not even a small program can be looked at. */
#define BR2_MEMORY_MIN ((size_t)16 * 1024 * 1024)
/* Of what comes as a stream, or is unpacked, so much stays in memory; the rest is on the disk. */
#define BR2_SPOOL_MEMORY ((size_t)4 * 1024 * 1024)
/* Distinct runtime traces that are counted before they are folded. */
#define BR2_LIVE_TRACES_MAX (1u << 20)

/* Recordings. */

/* One that is unpacked may grow so many times, beside a little that is always granted: none shrinks
 * to a thousandth, what grows more is made to fill the disk. */
#define BR2_GROWTH_MAX   UINT64_C(1000)
#define BR2_GROWTH_SPARE (UINT64_C(64) * 1024 * 1024)
/* To unpack xz: xz -9 needs 65 MiB, only a dictionary made larger by hand more than this. */
#define BR2_XZ_MEMORY_MAX (UINT64_C(512) * 1024 * 1024)
/* Files of a recording: one for each processor of the largest machines Linux runs on; every one is
 * mapped. */
#define BR2_PARTS_MAX 16384
/* Mappings over all views, and task events that matter, which are kept until the last is known. */
#define BR2_MAPPINGS_MAX ((size_t)4 * 1024 * 1024)
#define BR2_EVENTS_MAX   ((size_t)2 * 1024 * 1024)
/* What the names of all mapped files may take; also what each takes beside its name. */
#define BR2_IMAGE_NAMES_MAX ((size_t)128 * 1024 * 1024)
#define BR2_IMAGE_BYTES     ((size_t)256)
/* Generations of forks without a name of their own that are followed. */
#define BR2_GENERATIONS_MAX 256
/* Borders of threads' times in a trace that are put together; runs of more are cut there. */
#define BR2_TRACE_BORDERS_MAX ((size_t)1 << 20)
/* In perf script's text: records of a sample, more than any processor or decoder gives; events, of
 * which a recording has a few; mappings that are compared between processes; pids that are looked
 * for among lone numbers. */
#define BR2_SCRIPT_RECORDS_MAX  4096
#define BR2_SCRIPT_EVENTS_MAX   256
#define BR2_SCRIPT_MAPPINGS_MAX 4096
#define BR2_SCRIPT_PIDS_MAX     64
/* A line of a text. Where one is longer, that is the end of the text: a file may be one long hole.
 */
#define BR2_LINE_MAX ((size_t)1024 * 1024)
/* Packed bytes that may bring nothing: empty blocks without end. */
#define BR2_IDLE_MAX ((size_t)16 * 1024 * 1024)
/* Files side by side in a text. */
#define BR2_TEXT_FILES_MAX UINT32_C(32766)
/* What the counts of a text, and weighted records of all recordings, may add up to, so that sums
 * stay below what 64 bits hold. */
#define BR2_TEXT_SUM_MAX UINT64_C(0x1000000000000000)
#define BR2_RECORDS_MAX  UINT64_C(0x4000000000000000)

/* Programs. */

/* The longest code range that is decoded. */
#define BR2_RANGE_BYTES_MAX ((uint64_t)16 * 1024 * 1024)
/* Names, of which many symbols or DIEs may share one, and of sections. */
#define BR2_ELF_NAME_MAX   ((size_t)64 * 1024)
#define BR2_DEBUG_NAME_MAX ((size_t)64 * 1024)
/* A mangled name made readable: its length may double with every few letters. */
#define BR2_READABLE_NAME_MAX ((size_t)64 * 1024)
/* Nesting of DIEs, and with it of inlined functions; references from DIE to DIE that are followed:
 * a cycle must end. */
#define BR2_DIE_DEPTH_MAX 256
#define BR2_DIE_CHAIN_MAX 16
/* Places in llvm-bolt's address translation table. */
#define BR2_BOLT_PLACES_MAX ((size_t)1 << 28)

/* Reports. */

/* Loops of a function that are told apart, those that ran most; ways through functions that are
 * counted at a time: then the rare ones are forgotten; taken branches on such a way. */
#define BR2_LOOPS_MAX      1024
#define BR2_PATHS_MAX      ((size_t)1 << 17)
#define BR2_PATH_EDGES_MAX 64

/* Finished profiles. */

/* Bytes from which a profile's format is told. */
#define BR2_PROBE_BYTES ((size_t)64 * 1024)
/* Nesting of inlined functions in a profile that is read. Compilers stay far below. */
#define BR2_PROFILE_DEPTH_MAX 256
/* The largest section that is unpacked. */
#define BR2_PROFILE_SECTION_MAX (UINT64_C(1) << 31)

/* Options. */

/* Items in a list of numbers; a weight. */
#define BR2_SPANS_MAX  32
#define BR2_WEIGHT_MAX 1000000u

#endif
