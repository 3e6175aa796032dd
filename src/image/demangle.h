/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Symbols' names as people wrote them: C++ and Rust (both of its manglings). */
#ifndef BR2_IMAGE_DEMANGLE_H
#define BR2_IMAGE_DEMANGLE_H

/* The readable name, free with br2_free; NULL when the name is not mangled, too deep to be taken
 * apart, longer than BR2_READABLE_NAME_MAX, or memory runs out: then the symbol's own is shown. */
char *br2_demangle(const char *symbol);

#endif
