/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What llvm-bolt reads: branch profiles by function and offset, and pre-aggregated addresses. */
#ifndef BR2_CONVERTERS_BOLT_BOLT_H
#define BR2_CONVERTERS_BOLT_BOLT_H

#include "converters/converter.h"

extern const struct br2_format br2_format_fdata;
extern const struct br2_format br2_format_bolt_preagg;

#endif
