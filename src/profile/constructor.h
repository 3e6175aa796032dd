/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Constructors and destructors in mangled names of C++ (Itanium C++ ABI, 5.1). */
#ifndef BR2_PROFILE_CONSTRUCTOR_H
#define BR2_PROFILE_CONSTRUCTOR_H

#include <stddef.h>

/* Where in `name` the kind stands of the constructor (C1, C2, C4) or destructor (D0, D1, D2, D4)
 * that it names, as one digit; `length` where it names none. GCC gives the abstract function, which
 * is what debug information says is inlined, kind 4: no code has that name. */
size_t br2_constructor_kind(const char *name, size_t length);

/* Makes an abstract one in `name` the second, C2 or D2: GCC 16 looks for an inlined constructor
 * under the name of one that has code, and mostly that is the second (-Wauto-profile says so). */
void br2_make_concrete(char *name, size_t length);

#endif
