#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The frames of every instruction (function, line, declaration line, discriminator), compared with
llvm-symbolizer, on programs built here and, when BR2PGO_DATA names the folder, on its programs.

    symbolizer_compare.py [--build PATTERN | [--step N] FILE...]

Where the two may differ, and why that is no fault:

- The outermost name. The symbolizer prints the symbol's name where there is one, br2pgo the name in the
  debug information. They differ in what GCC's clones add (.cold, .isra.0), in the kind of a constructor
  or destructor (the DIE says C4 or C2, the symbol C1), and where GCC gives a DIE no linkage name
  (templates on local types) or, in strict DWARF 2, an invented one for the cold part
  (__second_sect_of_main): only these differences are let pass.
- Folded code (--icf=all), and other code with several names: of the symbols at one address the
  symbolizer prints one, of the DIEs there both tools take the same, which may be that of another name.
- Calls. The symbolizer gives no discriminator of a call (DW_AT_GNU_discriminator): only that of the
  innermost frame is compared.
- A relocatable file. libdw does not read its table of files. All its sections are at 0 for the symbolizer, so that the symbol is one of any of
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
# 500 "included.inc"
    for (int i = 1; i < 64; i++) total += (unsigned)values[i] > (unsigned)values[i - 1];
# 39 "program.c"
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

PROGRAM_F90 = r"""
module shapes
  implicit none
  type :: shape
    real(8) :: side
  contains
    procedure :: area
  end type
contains
  pure function area(self) result(a)
    class(shape), intent(in) :: self
    real(8) :: a
    a = self%side * self%side
  end function
  subroutine sum_up(shapes, total)
    type(shape), intent(in) :: shapes(:)
    real(8), intent(out) :: total
    integer :: i
    total = 0
    do i = 1, size(shapes)
      total = total + twice(shapes(i)%area())
    end do
  contains
    function twice(x) result(y)
      real(8), intent(in) :: x
      real(8) :: y
      if (x > 10) then
        y = 2 * x
      else
        y = x + total
      end if
    end function
  end subroutine
end module
program main
  use shapes
  implicit none
  type(shape) :: all(100)
  real(8) :: total
  integer :: i
  do i = 1, 100
    all(i)%side = i
  end do
  call sum_up(all, total)
  print *, total
end program
"""

PROGRAM_RS = r"""
use std::collections::BTreeMap;
trait Shape { fn area(&self) -> f64; }
struct Square(f64);
struct Circle { r: f64 }
impl Shape for Square { fn area(&self) -> f64 { self.0 * self.0 } }
impl Shape for Circle { fn area(&self) -> f64 { 3.14 * self.r * self.r } }
#[inline(always)]
fn mix(h: u32, c: u32) -> u32 {
    let h = (h ^ c).wrapping_mul(16777619);
    if h & 1 == 1 { h ^ (c << 3) } else { h + c }
}
#[inline(never)]
fn hash<T: AsRef<str>>(s: T) -> u32 { s.as_ref().bytes().fold(2166136261, |h, c| mix(h, c as u32)) }
fn main() {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let mut shapes: Vec<Box<dyn Shape>> = Vec::new();
    for (i, arg) in std::env::args().enumerate() {
        *counts.entry(arg.clone()).or_insert(0) += hash(&arg);
        let r = i as f64;
        if i % 2 == 0 { shapes.push(Box::new(Square(r))) } else { shapes.push(Box::new(Circle { r })) }
    }
    let total: f64 = shapes.iter().map(|s| s.area()).sum();
    if total > 1e9 { panic!("many") }
    println!("{} {:?}", total, counts.values().max());
}
"""

ASSEMBLY = r"""
    .section .note.GNU-stack, "", @progbits
    .text
    .globl scan
    .type scan, @function
scan:
    xor %eax, %eax
1:  movzbl (%rdi), %ecx
    test %ecx, %ecx
    je 2f
    inc %rdi
    add %ecx, %eax
    jmp 1b
2:  ret
    .size scan, .-scan
    .globl twice
    .type twice, @function
twice:
    lea (%rdi,%rdi), %eax
    ret
    .size twice, .-twice
"""

# Functions of which --icf=all makes one, and what other kinds of linking need: a second file.
OTHER_C = r"""
static inline __attribute__((always_inline)) int step(int x) { if (x & 4) return x * 3; return 2 * x; }
__attribute__((noinline)) int first(int x) { int s = 0; for (int i = 0; i < x % 9; i++) s += step(x + i); return s; }
__attribute__((noinline)) int second(int x) { int s = 0; for (int i = 0; i < x % 9; i++) s += step(x + i); return s; }
int scan(const char *s);
int twice(int x);
int other(int x) { return first(x) + second(x + 1); }
"""
CALLER_C = r"""
int other(int);
int main(int argc, char **argv) { (void)argv; return other(argc); }
"""
WITH_ASSEMBLY_C = r"""
int scan(const char *s);
int twice(int x);
int main(int argc, char **argv) { return scan(argv[0]) + twice(argc); }
"""

SOURCES = {"p.c": PROGRAM_C, "p.cc": PROGRAM_CC, "p.f90": PROGRAM_F90, "p.rs": PROGRAM_RS, "asm.s": ASSEMBLY,
           "other.c": OTHER_C, "caller.c": CALLER_C, "scan.c": WITH_ASSEMBLY_C}

# What each program is built by, in a folder with all sources; the result is p. Its first words are tools:
# one that is missing is named and the program left out. Where a second program is named, the
# symbolizer is asked about that: it does not read what dwz has made of p.
CLANG = "clang -O2 -g -fdebug-info-for-profiling"
SPLIT = "-c caller.c other.c && {cc} caller.o other.o -o p"
BUILDS = [
    ("clang", CLANG + " p.c -o p"),
    ("clang", "clang -O2 -gdwarf-4 -fdebug-info-for-profiling -ffunction-sections -Wl,--gc-sections p.c -o p"),
    ("clang", "clang -O1 -g1 -fdebug-info-for-profiling p.c -o p"),
    ("clang", "clang -O2 -gmlt p.c -o p"),
    ("clang", CLANG + " -gz=zlib p.c -o p"),
    ("clang", "clang -O2 -g -gz=zstd p.c -o p"),
    ("clang", "clang -O2 -g -gdwarf64 p.c -o p"),
    ("clang", "clang -O2 -gdwarf-3 p.c -o p"),
    ("clang", "clang -O2 -g -gsplit-dwarf p.c -o p"),
    ("clang", "clang -O2 -gdwarf-4 -gsplit-dwarf p.c -o p"),
    ("clang", "clang -O2 -g -gsplit-dwarf -gz=zlib " + SPLIT.format(cc="clang")),
    ("clang", "clang -O2 -g -gsplit-dwarf -gz=zstd " + SPLIT.format(cc="clang")),
    ("clang llvm-dwp", "clang -O2 -g -gsplit-dwarf " + SPLIT.format(cc="clang")
     + " && llvm-dwp -e p -o p.dwp && rm *.dwo"),
    ("clang llvm-dwp", "clang -O2 -gdwarf-4 -gsplit-dwarf " + SPLIT.format(cc="clang")
     + " && llvm-dwp -e p -o p.dwp && rm *.dwo"),
    ("clang++ llvm-dwp", "clang++ -O2 -g -gsplit-dwarf -fdebug-types-section -c p.cc && clang++ p.o -o p "
     "&& llvm-dwp -e p -o p.dwp && rm *.dwo"),
    ("clang ld.lld", CLANG + " -ffunction-sections -fuse-ld=lld -Wl,--icf=all caller.c other.c -o p"),
    ("clang ld.lld", CLANG + " -flto -fuse-ld=lld caller.c other.c -o p"),
    ("clang ld.lld", CLANG + " -flto=thin -fuse-ld=lld caller.c other.c -o p"),
    ("clang", CLANG + " -fbasic-block-sections=all p.c -o p"),
    ("clang", CLANG + " -falign-functions=4096 -ffunction-sections p.c other.c -o p"),
    ("clang", "clang -O2 -g scan.c asm.s -o p"),
    ("clang++", "clang++ -O2 -g -fdebug-info-for-profiling p.cc -o p"),
    ("clang++", "clang++ -O2 -gdwarf-4 -ffunction-sections -Wl,--gc-sections p.cc -o p"),
    ("gcc", "gcc -O2 -g p.c -o p"),
    ("gcc", "gcc -O2 -g1 p.c -o p"),
    ("gcc", "gcc -O2 -gdwarf-4 -no-pie p.c -o p"),
    ("gcc", "gcc -O2 -gdwarf-3 p.c -o p"),
    ("gcc", "gcc -O2 -gdwarf-2 -gstrict-dwarf p.c -o p"),
    ("gcc", "gcc -O2 -g -flto p.c -o p"),
    ("gcc", "gcc -O2 -g -flto caller.c other.c -o p"),
    ("gcc", "gcc -O0 -g p.c -o p"),
    ("gcc", "gcc -O2 -g -static-pie p.c -o p"),
    ("gcc", "gcc -O2 -g -pie -Wl,-Ttext-segment=0x40000000 p.c -o p"),
    ("gcc", "gcc -O2 -gdwarf-4 -gsplit-dwarf p.c -o p"),
    ("gcc", "gcc -O2 -g -gsplit-dwarf p.c -o p"),
    ("gcc dwp", "gcc -O2 -gdwarf-4 -gsplit-dwarf " + SPLIT.format(cc="gcc") + " && dwp -e p -o p.dwp && rm *.dwo"),
    # No package of what GCC writes in DWARF 5: dwp of binutils 2.40 crashes on it, llvm-dwp 19 does not end.
    ("gcc", "gcc -O2 -g scan.c asm.s -o p"),
    ("gcc", "gcc -O2 -g -c scan.c && gcc -c asm.s && gcc scan.o asm.o -o p"),
    ("gcc clang", "gcc -O2 -gdwarf-2 -gstrict-dwarf -c caller.c && gcc -O2 -gdwarf-3 -c other.c && "
     "clang -O2 -gdwarf-4 -c scan.c -Dmain=scan_main && gcc -gdwarf-5 -c asm.s && "
     "clang -O2 -gdwarf-5 -Dmain=p_main -c p.c && gcc *.o -o p"),
    ("gcc dwz", "gcc -O2 -g p.c other.c -o whole && dwz whole -o p", "whole"),
    ("g++ dwz", "g++ -O2 -g p.cc -o whole && cp whole p && cp whole q && dwz -m shared p q", "whole"),
    ("g++ dwz", "g++ -O2 -gdwarf-4 p.cc -o whole && cp whole p && cp whole q && dwz -m shared p q", "whole"),
    ("g++ dwz", "g++ -O2 -g p.cc -o whole && cp whole p && cp whole q && dwz -5 -m shared p q", "whole"),
    ("g++", "g++ -O2 -g p.cc -o p"),
    ("g++", "g++ -O2 -g -fdebug-types-section p.cc -o p"),
    ("g++", "g++ -O2 -gdwarf-4 -ffunction-sections -Wl,--gc-sections p.cc -o p"),
    ("musl-gcc", "musl-gcc -O2 -g p.c -o p"),
    ("musl-gcc", "musl-gcc -O2 -g -static p.c -o p"),
    ("gfortran", "gfortran -O2 -g p.f90 -o p"),
    ("gfortran", "gfortran -O2 -gdwarf-4 -ffunction-sections p.f90 -o p"),
    ("rustc", "rustc -O -g p.rs -o p"),
    ("rustc", "rustc -g p.rs -o p"),
    ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-gcc -O2 -g p.c -o p"),
]


def find_tool(name):
    path = os.path.join(BIN, name)
    return path if os.path.exists(path) else shutil.which(name)


def build(folder, wanted):
    environment = dict(os.environ, PATH=BIN + ":" + os.environ["PATH"])
    for number, (tools, command, *reference) in enumerate(BUILDS):
        if wanted and not re.search(wanted, command):
            continue
        missing = [tool for tool in tools.split() if find_tool(tool) is None]
        if missing:
            print(f"no {', '.join(missing)}: not compared: {command}")
            continue
        place = os.path.join(folder, str(number))
        os.mkdir(place)
        for name, text in SOURCES.items():
            with open(os.path.join(place, name), "w", encoding="utf-8") as file:
                file.write(text)
        subprocess.run(["bash", "-c", command], check=True, cwd=place, env=environment,
                       stdin=subprocess.DEVNULL, timeout=100)
        path = os.path.join(place, "p")
        yield command, path, 25 if "rustc" in tools else 1, None, os.path.join(place, *(reference or ["p"]))


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
        _, address, file, frames = line.split(" ", 3)
        if frames == "-":
            result[int(address, 16)] = None
            continue
        # A name may hold colons: the last three fields are numbers.
        result[int(address, 16)] = [
            (name, int(line_), int(decl), int(disc), file)
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
            frames = [(s["FunctionName"], s["Line"], s["StartLine"], s["Discriminator"],
                       os.path.basename(s["FileName"]) if s["Line"] != 0 else "-")
                      for s in reversed(entry.get("Symbol", []))]
            result[int(entry["Address"], 16)] = frames
    return result


def aliases(path):
    """{name: the other names at its address}."""
    out = subprocess.run([os.path.join(BIN, "llvm-nm"), "--defined-only", path], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    places = {}
    for line in out.splitlines():
        address, _, name = line.split(" ", 2)
        places.setdefault(address, set()).add(name)
    return {name: names for names in places.values() for name in names}


def same_name(mine, symbol, others):
    """Whether the debug information's name can be that of the function with this symbol; `others` are
    the symbols at its address."""
    if mine == symbol or mine in others or mine.startswith("__second_sect_of_"):
        return True
    structor = re.compile(r"([CD])[0-5]E")
    stem = symbol.split(".")[0]
    linked = mine.startswith("_Z") or not symbol.startswith("_Z")
    return not linked or structor.sub(r"\1E", mine) == structor.sub(r"\1E", stem)


def same(mine, other, symbols):
    """Whether two stacks agree in what both tools say; `symbols`: names at the address of each symbol;
    None: the outermost name does not count."""
    if len(mine) != len(other):
        return False
    for depth, (a, b) in enumerate(zip(mine, other)):
        named = a[0] == b[0]
        if depth == 0:
            named = symbols is None or same_name(a[0], b[0], symbols.get(b[0], ()))
        if not named or a[1:3] != b[1:3]:
            return False
    files = symbols is None or mine[-1][4] == other[-1][4]
    return mine[-1][3] == other[-1][3] and files


def has_debug(frames):
    """Whether the symbolizer found a function DIE, not only a symbol or a line."""
    return any(frame[2] != 0 for frame in frames)


def compare(name, path, step, text=None, reference=None):
    mine = ours(path, step)
    if text is not None:
        mine = {address - text[0]: frames for address, frames in mine.items()
                if text[0] <= address < text[0] + text[1]}
    unknown = [address for address in sorted(mine) if mine[address] is None]
    for address in unknown[1000:]:  # of a C library without debug information, enough
        del mine[address]
    other = theirs(reference or path, sorted(mine))
    symbols = aliases(reference or path) if text is None else None
    bad = []
    without = 0
    for address in sorted(mine):
        stack = other.get(address, [])
        if mine[address] is None:
            without += 1
            if has_debug(stack):
                bad.append((address, None, stack))
        elif not same(mine[address], stack, symbols):
            bad.append((address, mine[address], stack))
    for address, a, b in bad[:3]:
        print(f"  0x{address:x}\n    here        {a}\n    symbolizer  {b}")
    print(f"{name}: {len(mine)} addresses, {without} without debug information, {len(bad)} differ")
    return len(bad)


def main():
    args = sys.argv[1:]
    step = 1
    wanted = None
    if args[:1] == ["--build"]:
        wanted = args[1]
        args = args[2:]
    if args[:1] == ["--step"]:
        step = int(args[1])
        args = args[2:]
    if not os.path.exists(os.path.join(BIN, "llvm-symbolizer")):
        print("no llvm-symbolizer")
        return SKIPPED
    if args:
        return 1 if sum(compare(a, os.path.abspath(a), step) for a in args) else 0
    with tempfile.TemporaryDirectory() as folder:
        bad = sum(compare(*one) for one in build(folder, wanted))
        bad += sum(compare(*one) for one in shared_programs() if not wanted)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
