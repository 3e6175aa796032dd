/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The edge table as a table for spreadsheets, scripts and people. */
#ifndef BR2_CONVERTERS_TABLE_TABLE_H
#define BR2_CONVERTERS_TABLE_TABLE_H

#include "converters/converter.h"

extern const struct br2_format br2_format_edges_csv;
extern const struct br2_format br2_format_edges_json;

/* The kind of that name, or BR2_EDGE_KINDS. */
enum br2_edge_kind br2_table_kind(const char *text, size_t length);

#endif
