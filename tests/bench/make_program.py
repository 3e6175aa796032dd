#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a C program of many functions for benchmarks.

usage: make_program.py FUNCTIONS [PREFIX TYPES] > program.c

Functions take branches that depend on a random number, loop, and call each other, one in eight by
pointer. With a PREFIX it is a part of a program: no main, names that begin with it, and so many TYPES of 64 members
that nothing uses, for those who compile with -fno-eliminate-unused-debug-types."""
import sys

FUNCTION = """
NOINLINE unsigned {p}f{i}(unsigned x)
{{
    struct {p}s{s} state = {{x, {i}u, x ^ {i}u}};
    for (unsigned k = 0; k < (x & 3) + 1; k++) {{
        struct {p}s{s} inner = {{k, state.a{s}, state.b{s}}};
        if (inner.a{s} % {m}u == 1) {{
            state.c{s} += {p}step(inner.b{s} + {i}u);
        }} else if ((inner.c{s} >> 3) % 5 < 2) {{
            unsigned rest = inner.a{s} * {m}u;
            state.a{s} ^= rest - {p}step(k);
        }}
    }}
    switch (x % 6) {{
    case 0: return state.a{s} + {i};
    case 1: return state.c{s} ^ x;
    case 2: return {p}step(state.b{s});
    default: break;
    }}
    {call}
}}
"""


def main():
    if len(sys.argv) not in (2, 4):
        print(__doc__)
        return 2
    count, prefix = int(sys.argv[1]), sys.argv[2] if len(sys.argv) == 4 else ""
    out = ["#include <stdio.h>\n#include <stdlib.h>\n#define NOINLINE __attribute__((noinline))\n"
           "typedef unsigned function(unsigned);\nextern function *const %stable[];\n"
           "static inline unsigned %sstep(unsigned x)\n{\n"
           "    unsigned y = x * 2654435761u;\n    if (y & 64) { y ^= x >> 7; }\n    return y;\n}\n"
           % (prefix, prefix)]
    for t in range(int(sys.argv[3]) if prefix else 0):
        out.append("struct %st%d { unsigned %s; };\n" % (prefix, t, ", ".join("m%d" % m for m in range(64))))
    for s in range(min(count, 97)):
        out.append("struct %ss%d { unsigned a%d, b%d, c%d; };\n" % (prefix, s, s, s, s))
    for i in range(count):
        out.append("unsigned %sf%d(unsigned x);\n" % (prefix, i))
    for i in range(count):
        target = (i * 7919 + 13) % count
        call = ("return %stable[x %% %du](x / 7);" % (prefix, count) if i % 8 == 0 and i else
                "return x > 9 ? %sf%d(x / 3) : state.b%d;" % (prefix, target, i % 97))
        out.append(FUNCTION.format(p=prefix, i=i, s=i % 97, m=i % 11 + 2, call=call))
    out.append("function *const %stable[] = {%s};\n" % (
        prefix, ", ".join("%sf%d" % (prefix, i) for i in range(count))))
    if not prefix:
        out.append("""
int main(int argc, char **argv)
{
    unsigned sum = 1, state = 12345;
    for (long i = argc > 1 ? atol(argv[1]) : 1000; i > 0; i--) {
        state = state * 1664525u + 1013904223u;
        unsigned few = (state >> 8) %% 64 == 0 ? %du : 256u;
        sum += table[(state >> 12) %% (few < %du ? few : %du)](state >> 4);
    }
    printf("%%u\\n", sum);
    return 0;
}
""" % (count, count, count))
    sys.stdout.write("".join(out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
