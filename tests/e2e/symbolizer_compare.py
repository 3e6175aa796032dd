#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The frames of every instruction (function, line, declaration line, discriminator), compared with
llvm-symbolizer, on programs built here and, when BR2PGO_DATA names the folder, on its programs.

    symbolizer_compare.py [--step N] [FILE...]

Where the two may differ, and why that is no fault:

- The outermost name. The symbolizer prints the symbol's name where there is one, br2pgo the name in the
  debug information. They differ in what GCC's clones add (.cold, .isra.0), in the kind of a constructor
  or destructor (the DIE says C4 or C2, the symbol C1), and where GCC gives a DIE no linkage name
  (templates on local types) or, in strict DWARF 2, an invented one for the cold part
  (__second_sect_of_main): only these differences are let pass.
- Calls. The symbolizer gives no discriminator of a call (DW_AT_GNU_discriminator): only that of the
  innermost frame is compared.
- A relocatable file. All its sections are at 0 for the symbolizer, so that the symbol is one of any of
  them: the outermost name is not compared, and only .text is.
- Code without a DIE. The symbolizer falls back to the symbol table, br2pgo says there is none: let pass
  where the symbolizer knows no start line.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

BIN = os.environ.get("LLVM_BIN") or "/usr/lib/llvm-19/bin"
TOOLS = os.environ.get("TOOLS") or os.path.join(os.environ.get("BUILD_DIR", "build"), "tools")
DATA = os.environ.get("BR2PGO_DATA")
SKIPPED = 77

PROGRAM_C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static inline __attribute__((always_inline)) unsigned mix(unsigned h, unsigned c)
{
    h ^= c;
    h *= 16777619u; if (h & 1) h ^= c << 3; else h += c;
    return h;
}
static unsigned hash(const char *s)
{
    unsigned h = 2166136261u;
    for (; *s; s++) { h = mix(h, (unsigned char)*s); if (*s == 'q') h = mix(h, 7); }
    return h;
}
__attribute__((cold, noinline)) static void fail(const char *what)
{
    fprintf(stderr, "bad %s\n", what);
    exit(3);
}
#define TWICE(x) do { total += hash(x); total ^= hash(x); } while (0)
int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(int argc, char **argv)
{
    unsigned total = 0;
    int values[64];
    for (int i = 0; i < argc; i++) {
        if (__builtin_expect(argv[i] == 0, 0)) fail("argument");
        TWICE(argv[i]);
        if (strlen(argv[i]) > 1000) { fail("length"); }
    }
    for (int i = 0; i < 64; i++) values[i] = (int)(total * (unsigned)i);
    qsort(values, 64, sizeof values[0], compare);
    switch (total & 7) {
    case 0: puts("a"); break;
    case 1: puts("b"); break;
    case 2: total += 3; break;
    case 5: puts("c"); /* fall through */
    default: printf("%u\n", total); break;
    }
    return values[0] == (int)total;
}
"""

PROGRAM_CC = r"""
#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
namespace outer { namespace {
template <class T> struct Tree {
    struct Node { T value; Node *left = nullptr, *right = nullptr; };
    Node *root = nullptr;
    void insert(const T &v)
    {
        Node **at = &root;
        while (*at) at = v < (*at)->value ? &(*at)->left : &(*at)->right;
        *at = new Node{v};
    }
    template <class F> void each(F f) const { walk(root, f); }
    template <class F> static void walk(Node *n, F &f)
    {
        if (!n) return;
        walk(n->left, f); f(n->value); walk(n->right, f);
    }
};
} // namespace
class Shape { public: virtual ~Shape() {} virtual double area() const = 0; };
class Square : public Shape { double s; public: explicit Square(double x) : s(x) {} double area() const override; };
double Square::area() const { return s * s; }
struct Circle : Shape { double r = 1; double area() const override { return 3.14 * r * r; } };
}
static std::map<std::string, int> counts;
int main(int argc, char **argv)
{
    outer::Tree<std::string> tree;
    std::vector<outer::Shape *> shapes;
    for (int i = 0; i < argc; i++) {
        tree.insert(argv[i]);
        counts[argv[i]] += i;
        if (i & 1) shapes.push_back(new outer::Square(i)); else shapes.push_back(new outer::Circle);
    }
    try {
        if (argc > 100) throw std::runtime_error("many");
        std::sort(shapes.begin(), shapes.end(),
                  [](const outer::Shape *a, const outer::Shape *b) { return a->area() < b->area(); });
    } catch (const std::exception &e) { return (int)e.what()[0]; }
    size_t n = 0;
    tree.each([&](const std::string &s) { n += s.size(); });
    return (int)n + counts.begin()->second;
}
"""

# Compiler, source, flags.
BUILDS = [
    ("clang", "c", ["-O2", "-g", "-fdebug-info-for-profiling"]),
    ("clang", "c", ["-O2", "-gdwarf-4", "-fdebug-info-for-profiling", "-ffunction-sections",
                    "-Wl,--gc-sections"]),
    ("clang", "c", ["-O1", "-g1", "-fdebug-info-for-profiling"]),
    ("clang", "c", ["-O2", "-g", "-gz=zlib", "-fdebug-info-for-profiling"]),
    ("clang", "c", ["-O2", "-g", "-gz=zstd"]),
    ("clang", "c", ["-O2", "-g", "-gsplit-dwarf"]),
    ("clang++", "cc", ["-O2", "-g", "-fdebug-info-for-profiling"]),
    ("clang++", "cc", ["-O2", "-gdwarf-4", "-ffunction-sections", "-Wl,--gc-sections"]),
    ("gcc", "c", ["-O2", "-g"]),
    ("gcc", "c", ["-O2", "-gdwarf-4", "-no-pie"]),
    ("gcc", "c", ["-O2", "-gdwarf-2", "-gstrict-dwarf"]),
    ("gcc", "c", ["-O2", "-g", "-flto"]),
    ("gcc", "c", ["-O0", "-g"]),
    ("g++", "cc", ["-O2", "-g"]),
    ("g++", "cc", ["-O2", "-gdwarf-4", "-ffunction-sections", "-Wl,--gc-sections"]),
]


def find_compiler(name):
    if name.startswith("clang"):
        path = os.path.join(BIN, name)
        return path if os.path.exists(path) else None
    return shutil.which(name)


def build(folder):
    for number, (compiler, kind, flags) in enumerate(BUILDS):
        path = find_compiler(compiler)
        if path is None:
            print(f"no {compiler}: not compared")
            continue
        source = os.path.join(folder, f"program.{kind}")
        with open(source, "w", encoding="utf-8") as file:
            file.write(PROGRAM_C if kind == "c" else PROGRAM_CC)
        out = os.path.join(folder, f"{number}-{compiler}-{kind}")
        subprocess.run([path, *flags, "-o", out, source], check=True, cwd=folder)
        yield f"{compiler} {kind} {' '.join(flags)}", out, 1


def shared_programs():
    if not DATA:
        return
    for name, step in (("emulated/lua-clang", 1), ("emulated/lua-gcc", 1),
                       ("emulated/speedtest1-clang", 50),
                       ("autofdo/hierarchical_discriminator_test.x86_64", 1),
                       ("autofdo/test.binary", 10), ("autofdo/propeller_sample_1.bin", 50),
                       ("autofdo/test_kernel_module.ko", 1)):
        path = os.path.join(DATA, name)
        if os.path.exists(path):
            yield name, path, step, text_section(path) if name.endswith(".ko") else None


def text_section(path):
    """Offset and size of .text. br2pgo lays a relocatable file out by offsets; for the symbolizer all
    its sections start at 0."""
    out = subprocess.run([os.path.join(BIN, "llvm-readelf"), "-SW", path], check=True,
                         stdout=subprocess.PIPE).stdout.decode()
    found = re.search(r"\s\.text\s+PROGBITS\s+\S+\s+(\S+)\s+(\S+)", out)
    return int(found.group(1), 16), int(found.group(2), 16)


def ours(path, step):
    """{address: [(name, line, decl, disc), ...]} from the outermost frame in, or None."""
    out = subprocess.run([os.path.join(TOOLS, "dump_image"), "--step", str(step), path],
                         check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL).stdout.decode("utf-8", "replace")
    result = {}
    for line in out.splitlines():
        if not line.startswith("F "):
            continue
        _, address, frames = line.split(" ", 2)
        if frames == "-":
            result[int(address, 16)] = None
            continue
        # A name may hold colons: the last three fields are numbers.
        result[int(address, 16)] = [
            (name, int(line_), int(decl), int(disc))
            for name, line_, decl, disc in (f.rsplit(":", 3) for f in frames.split("|"))]
    return result


def theirs(path, addresses):
    """The same from llvm-symbolizer."""
    text = "\n".join(f"0x{a:x}" for a in addresses)
    out = subprocess.run(
        [os.path.join(BIN, "llvm-symbolizer"), f"--obj={path}", "--output-style=JSON", "-i",
         "--functions=linkage", "--no-demangle"],
        input=text.encode(), check=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, cwd=os.path.dirname(path)).stdout
    result = {}
    for line in out.decode("utf-8", "replace").splitlines():
        for entry in json.loads(line) if line.startswith("[") else [json.loads(line)]:
            frames = [(s["FunctionName"], s["Line"], s["StartLine"], s["Discriminator"])
                      for s in reversed(entry.get("Symbol", []))]
            result[int(entry["Address"], 16)] = frames
    return result


def same_name(mine, symbol):
    """Whether the debug information's name can be that of the function with this symbol."""
    if mine == symbol or mine.startswith("__second_sect_of_"):
        return True
    structor = re.compile(r"([CD])[0-5]E")
    stem = symbol.split(".")[0]
    linked = mine.startswith("_Z") or not symbol.startswith("_Z")
    return not linked or structor.sub(r"\1E", mine) == structor.sub(r"\1E", stem)


def same(mine, other, symbols):
    """Whether two stacks agree in what both tools say; `symbols`: also in the outermost name."""
    if len(mine) != len(other):
        return False
    for depth, (a, b) in enumerate(zip(mine, other)):
        named = a[0] == b[0]
        if depth == 0:
            named = not symbols or same_name(a[0], b[0])
        if not named or a[1:3] != b[1:3]:
            return False
    return mine[-1][3] == other[-1][3]


def has_debug(frames):
    """Whether the symbolizer found a function DIE, not only a symbol or a line."""
    return any(frame[2] != 0 for frame in frames)


def compare(name, path, step, text=None):
    mine = ours(path, step)
    if text is not None:
        mine = {address - text[0]: frames for address, frames in mine.items()
                if text[0] <= address < text[0] + text[1]}
    other = theirs(path, sorted(mine))
    bad = []
    without = 0
    for address in sorted(mine):
        stack = other.get(address, [])
        if mine[address] is None:
            without += 1
            if has_debug(stack):
                bad.append((address, None, stack))
        elif not same(mine[address], stack, text is None):
            bad.append((address, mine[address], stack))
    for address, a, b in bad[:3]:
        print(f"  0x{address:x}\n    here        {a}\n    symbolizer  {b}")
    print(f"{name}: {len(mine)} addresses, {without} without debug information, {len(bad)} differ")
    return len(bad)


def main():
    args = sys.argv[1:]
    step = 1
    if args[:1] == ["--step"]:
        step = int(args[1])
        args = args[2:]
    if not os.path.exists(os.path.join(BIN, "llvm-symbolizer")):
        print("no llvm-symbolizer")
        return SKIPPED
    if args:
        return 1 if sum(compare(a, os.path.abspath(a), step) for a in args) else 0
    with tempfile.TemporaryDirectory() as folder:
        bad = sum(compare(*one) for one in build(folder))
        bad += sum(compare(*one) for one in shared_programs())
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
