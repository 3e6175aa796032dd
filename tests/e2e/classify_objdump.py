#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The plugin's small decoders find in whole libraries the transfers that objdump finds, with the same
targets."""
import glob
import os
import re
import shutil
import subprocess
import sys

CLASSIFY = os.path.join(os.environ["TOOLS"], "classify")

# Machine, objdump, libraries, {kind: mnemonics}. What objdump prints behind the mnemonic and begins
# with a number is a direct branch's target.
X86 = {
    "cond": r"(bnd )?j(?!mp)[a-z]+|loop\w*|jrcxz|jecxz", "jump": r"(bnd )?jmp", "call": r"(bnd )?call",
    "return": r"(bnd |repz )?l?ret",
}
AARCH64 = {
    "cond": r"bc?\.[a-z]+|cbn?z|tbn?z", "jump": "b", "call": "bl", "return": "ret(aa|ab)?",
    "ijump": "bra?a?b?z?|br", "icall": "blra?a?b?z?|blr",
}
MACHINES = [
    ("x86_64", "objdump", "/lib/x86_64-linux-gnu/libc.so.6", X86),
    ("aarch64", "aarch64-linux-gnu-objdump", "/usr/aarch64-linux-gnu/lib/libc.so.6", AARCH64),
    ("riscv64", "riscv64-linux-gnu-objdump", "/usr/riscv64-linux-gnu/lib/libc.so.6", {}),
]
LINE = re.compile(r"^ *([0-9a-f]+):\t([0-9a-f ]+?) *\t(.*)$")


def riscv_kind(name, operands):
    """The manual's hints: ra and t0 hold return addresses."""
    link = ("ra", "t0")
    if re.fullmatch(r"b(eq|ne|lt|ge|le|gt)u?z?", name):
        return "cond"
    if name == "j":
        return "jump"
    if name == "jal":
        first = operands.split(",")[0]
        return "call" if "," not in operands or first in link else "jump"
    if name == "ret":
        return "return"
    if name == "jr":
        return "return" if re.sub(r".*\(|\).*", "", operands) in link else "ijump"
    if name == "jalr":
        parts = operands.split(",")
        if len(parts) == 1:
            return "icall"
        if parts[0] in link:
            return "icall"
        return "return" if parts[1].strip("()0") in link else "ijump"
    return None


def objdump_kind(machine, table, name, operands):
    if machine == "riscv64":
        return riscv_kind(name, operands)
    for kind, pattern in table.items():
        if re.fullmatch(pattern, name):
            if machine == "x86_64" and kind in ("jump", "call") and operands.startswith("*"):
                return "i" + kind
            return kind
    if machine == "x86_64" and re.match(r"rep", name):
        return "repeat"
    return None


def target_of(operands):
    """Of a direct branch: the last operand that is a number without a 0x, before <symbol>."""
    found = re.search(r"(?:^|,\s*)([0-9a-f]+)(?: <.*)?$", operands.split("\t")[0].strip())
    return int(found.group(1), 16) if found else 0


def in_memory(machine, text):
    """objdump prints AArch64's and RISC-V's instructions as numbers, the highest byte first."""
    parts = text.split()
    if machine == "x86_64":
        return "".join(parts)
    return "".join(bytes.fromhex(part)[::-1].hex() for part in parts)


def read_listing(machine, table, text):
    insns, wanted = [], {}
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        address, code, words = int(match.group(1), 16), match.group(2), match.group(3)
        # Prefixes that objdump prints as words of their own, hints and comments are left out.
        words = re.sub(r"^(data16 |cs |ds |es |ss |fs |gs |notrack |addr32 |rex\S* |\{\S+\} )+", "",
                       re.sub(r"\s*//.*| # .*", "", words).replace(",pt", "").replace(",pn", ""))
        match = re.match(r"((?:bnd|rep\w*) +)?(\S+)\s*(.*)", words)
        if not match or "(bad)" in words or words.startswith((".", "unimp", "udf")):
            continue
        name = ((match.group(1) or "").strip() + " " + match.group(2)).strip()
        kind = objdump_kind(machine, table, name, match.group(3))
        insns.append(f"{address:x} {in_memory(machine, code)}")
        if kind:
            direct = kind in ("cond", "jump", "call")
            wanted[address] = kind, target_of(match.group(3)) if direct else 0
    return insns, wanted


def check(machine, objdump, library, table):
    text = subprocess.run([objdump, "-d", "-w", "-z", library], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    insns, wanted = read_listing(machine, table, text)
    out = subprocess.run([CLASSIFY, machine], input="\n".join(insns) + "\n", text=True,
                         stdout=subprocess.PIPE, check=True).stdout
    got = {int(a, 16): (kind, int(target, 16)) for a, kind, target in map(str.split, out.splitlines())}
    problems = [f"{machine} {a:#x}: objdump has {wanted.get(a)}, the plugin {got.get(a)}"
                for a in sorted(set(got) | set(wanted)) if got.get(a) != wanted.get(a)]
    kinds = sorted({kind for kind, _ in wanted.values()})
    print(f"{machine}: {len(insns)} instructions, {len(wanted)} of them {', '.join(kinds)}")
    if len(wanted) < 10000:
        problems.append(f"{machine}: only {len(wanted)} transfers")
    return problems


def main():
    problems, checked = [], 0
    for machine, objdump, library, table in MACHINES:
        found = glob.glob(library)
        if shutil.which(objdump) and found:
            problems += check(machine, objdump, found[0], table)
            checked += 1
    print("\n".join(problems[:20]))
    return 1 if problems else 0 if checked else 77


if __name__ == "__main__":
    sys.exit(main())
