#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Boundaries, kinds and targets of the instructions of every code range, compared with llvm-objdump's
text: of a program and an object with every kind of branch, assembled here for x86-64, AArch64 and RISC-V, of a program with
the C library for RISC-V where there is one, and, when BR2PGO_DATA names the folder, of its programs.

Differences that are no fault:
- What llvm-objdump cannot decode it prints as <unknown>, and goes on one byte (x86) or an instruction later.
  Elsewhere br2pgo only tells reserved encodings of branches, so that an unknown word may be plain here.
- llvm-objdump starts over at every symbol, br2pgo at every range; a symbol inside a range may cut an
  instruction. Only instructions that start inside a range are compared.
- llvm-objdump takes a lock prefix for an instruction of its own, and so on for others without effect;
  a processor does not, and br2pgo joins it to what follows.
- A direct branch to another file of an object not yet linked has no target here.
"""
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

X86 = r"""
    .text
    .globl every
    .type every, @function
every:
    jo 1f; jno 1f; jb 1f; jae 1f; je 1f; jne 1f; jbe 1f; ja 1f
    js 1f; jns 1f; jp 1f; jnp 1f; jl 1f; jge 1f; jle 1f; jg 1f
    .byte 0x0f,0x84,0,1,0,0
    .byte 0x2e,0x75,0x02
    .byte 0x3e,0x0f,0x85,0,0,0,0
    .byte 0xf2; je 1f
    loop 1f
    loope 1f
    loopne 1f
    jrcxz 1f
    jecxz 1f
1:  jmp 1b
    .byte 0xe9,0,1,0,0
    .byte 0xf2; jmp other
    call other
    .byte 0xf2; call other
    .byte 0x66,0x66,0x48,0xe8,0,0,0,0
    call *%rax
    call *(%r12)
    call *8(%rax,%rbx,4)
    call *other(%rip)
    notrack call *%r11
    lcall *(%rax)
    jmp *%rax
    jmp *%r15
    notrack jmp *%rdx
    .byte 0xf2; jmp *(%rcx)
    jmp *%fs:0
    ljmp *(%rdi)
    push %rax
    push (%rax)
    inc %eax
    decl (%rax)
    ret
    ret $8
    rep ret
    .byte 0xf2; ret
    lret
    lret $4
    syscall
    sysenter
    int $0x80
    hlt
    ud2
    ud1 %eax, %eax
    int3
    .byte 0xf1
    iretq
    iretl
    sysretq
    sysretl
    sysexit
    xbegin 1b
    xend
    xabort $1
    cmp %rax, %rbx
    cmp (%rax), %bl
    cmp %bl, (%rax)
    cmp $1, %al
    cmp $100000, %eax
    cmpb $1, (%rax)
    cmpl $100000, (%rax)
    cmpl $1, (%r9)
    cmpq $1, %gs:(%r9)
    add $1, %rax
    sub $1, %rax
    and $1, %rax
    test %al, %al
    test %r9, %r9
    test $1, %al
    test $1, %eax
    testb $1, (%rax)
    testl $1, (%rax)
    notl (%rax)
    neg %rax
    cmpxchg %rax, (%rbx)
    lock cmpxchg16b (%rbx)
    vpaddd %ymm0, %ymm1, %ymm2
    vpaddd %zmm0, %zmm1, %zmm2{%k1}
    vtestps %ymm0, %ymm1
    vpcmpeqd %xmm0, %xmm1, %xmm2
    rep movsb
    repne scasb
    lock incl (%rax)
    data16 lea other(%rip), %rdi
    nopw %cs:0(%rax,%rax)
    .byte 0x66,0x66,0x66,0x66,0x66,0x2e,0x0f,0x1f,0x84,0,0,0,0,0
    endbr64
    pause
    movabs $0x1122334455667788, %rax
    movabs 0x1122334455667788, %al
    enter $8, $1
    leave
    crc32 %al, %eax
    palignr $3, %mm0, %mm1
    vmcall
    clac
    swapgs
    xgetbv
    bswap %r9
    .byte 0x06
    .byte 0xd6
    .byte 0xf0,0x0f
    nop
    .byte 0xc5
    .size every, . - every
"""

AARCH64 = r"""
    .arch armv8.8-a+memtag+sve
    .text
    .globl every
    .type every, %function
every:
0:  b 1f
    b 0b
    bl 0b
    bl other
    b.eq 1f
    b.ne 0b
    b.al 1f
    bc.lt 1f
    cbz w0, 1f
    cbz x1, 0b
    cbnz w2, 1f
    cbnz x30, 0b
    tbz w0, #3, 1f
    tbz x0, #40, 0b
    tbnz w7, #31, 1f
    tbnz x9, #63, 0b
1:  br x0
    blr x1
    ret
    ret x2
    braa x0, x1
    braaz x2
    brab x3, sp
    brabz x4
    blraa x0, x1
    blraaz x2
    blrab x3, sp
    blrabz x4
    retaa
    retab
    eret
    eretaa
    eretab
    drps
    svc #0
    hvc #1
    smc #2
    brk #1
    hlt #3
    dcps1 #4
    dcps2
    dcps3
    udf #0
    udf #77
    nop
    bti c
    paciasp
    autiasp
    isb
    dmb ish
    mrs x0, tpidr_el0
    msr daifset, #2
    wfi
    adr x0, every
    adrp x0, every
    ldr x0, every
    ldr x1, [x2, #8]!
    stp x29, x30, [sp, #-16]!
    cmp x0, x1
    tst x0, #1
    ccmp x0, #1, #0, eq
    csel x0, x1, x2, lt
    fadd d0, d1, d2
    fmov x0, d0
    add v0.4s, v1.4s, v2.4s
    add z0.s, z1.s, z2.s
    ldadd x0, x1, [x2]
    casal x0, x1, [x2]
    movz x0, #0x5400, lsl #16
    .inst 0x00000002
    .inst 0x02000000
    .inst 0x06000001
    .size every, . - every
"""

RISCV = r"""
    .option arch, rv64gc
    .text
    .globl every
    .type every, @function
every:
    .option norelax
0:  beq a0, a1, 1f
    bne a0, a1, 0b
    blt a0, a1, 1f
    bge a0, a1, 0b
    bltu s0, s1, 1f
    bgeu s0, s1, 0b
    beqz a0, 1f
    bnez a5, 0b
    blez a0, 1f
    bgtz a0, 0b
    .word 0x00b52463, 0x00b53463
    j 1f
    j 0b
    jal 1f
    jal t0, 1f
    jal t1, 0b
    jal zero, 0b
    .option norvc
    j 1f
    beqz a0, 1f
    jr a0
    jalr a0
    ret
    ecall
    ebreak
    .option rvc
1:  jr a0
    jr t0
    jr ra
    jalr a1
    jalr ra
    jalr t0, 8(a0)
    jalr zero, 8(t0)
    jalr t0, 0(ra)
    jalr t1, 0(t3)
    .word 0x00051567
    ret
    ecall
    ebreak
    c.ebreak
    .word 0x10200073, 0x30200073, 0x10500073
    fence.i
    csrr a0, cycle
    auipc t3, 1
    lui a0, 1
    ld t3, 16(t3)
    sd ra, 8(sp)
    addi sp, sp, -16
    addi a0, a0, 1
    li a0, 5
    mv a0, a1
    add a0, a0, a1
    mul a0, a0, a1
    amoadd.w a0, a1, (a2)
    lr.d a0, (a1)
    fadd.d fa0, fa1, fa2
    fld fa0, 8(sp)
    fsd fa0, 8(a0)
    nop
    .half 0, 0x8002, 0x9ffd
    .size every, . - every
"""

# Mnemonic (without prefixes) -> kind.
X86_KINDS = [
    (r"(j(o|no|b|ae|e|ne|be|a|s|ns|p|np|l|ge|le|g)|loop(e|ne)?|j[er]cxz)$", "cond"),
    (r"jmp[lqw]?$", "jump"), (r"l?jmp[lqw]? \*", "indirect-jump"),
    (r"l(call|jmp)[lqw]? \*", None),
    (r"call[lqw]?$", "call"), (r"l?ret[fqlw]*$", "return"),
    (r"(syscall|sysenter|int)$", "syscall"),
    (r"(hlt|ud[0-2].*|int3|int1|iret[qlw]?|sysret[ql]?|sysexit[ql]?|rsm)$", "stop"),
]
AARCH64_KINDS = {
    "b": "jump", "bl": "call", "br": "indirect-jump", "braa": "indirect-jump",
    "braaz": "indirect-jump", "brab": "indirect-jump", "brabz": "indirect-jump",
    "blr": "indirect-call", "blraa": "indirect-call", "blraaz": "indirect-call",
    "blrab": "indirect-call", "blrabz": "indirect-call", "ret": "return", "retaa": "return",
    "retab": "return", "eret": "stop", "eretaa": "stop", "eretab": "stop", "drps": "stop",
    "svc": "syscall", "hvc": "syscall", "smc": "syscall", "brk": "stop", "hlt": "stop",
    "udf": "stop", "dcps1": "stop", "dcps2": "stop", "dcps3": "stop", "cbz": "cond",
    "cbnz": "cond", "tbz": "cond", "tbnz": "cond",
}
PREFIXES = {"bnd", "notrack", "rep", "repne", "repz", "repnz", "data16", "addr32", "lock", "cs",
            "ds", "es", "ss", "fs", "gs", "rex64", "xacquire", "xrelease"}
LINE = re.compile(r"^\s*([0-9a-f]+):\s+(.*)$")


def x86_kind(text):
    """(kind, target, compares) from llvm-objdump's text."""
    words = text.split()
    while words and (words[0] in PREFIXES or words[0].startswith("rex")):
        words = words[1:]
    if not words:
        return "plain", 0, 0
    mnemonic = words[0].split(",")[0]
    operands = " ".join(words[1:])
    compares = int(bool(re.match(r"(cmp|test)[bwlq]?$", mnemonic)))
    if operands.startswith("*"):
        if mnemonic.lstrip("l").startswith("call"):
            return "indirect-call", 0, 0
        if mnemonic.lstrip("l").startswith("jmp"):
            return "indirect-jump", 0, 0
    for pattern, kind in X86_KINDS:
        if kind and re.match(pattern, mnemonic):
            target = re.search(r"0x([0-9a-f]+)", operands)
            direct = kind in ("cond", "jump", "call")
            return kind, int(target.group(1), 16) if direct and target else 0, 0
    return "plain", 0, compares


def aarch64_kind(text):
    words = text.split()
    mnemonic = words[0]
    kind = AARCH64_KINDS.get(mnemonic, "plain")
    if mnemonic.startswith(("b.", "bc.")):
        kind = "cond"
    target = 0
    if kind in ("cond", "jump", "call"):
        target = int(re.findall(r"0x([0-9a-f]+)", text)[-1], 16)
    return kind, target, 0


def riscv_kind(text):
    """Of the text without aliases: rd is the first operand, rs1 the last, in parentheses."""
    words = text.replace(",", " ").split()
    mnemonic = words[0].removeprefix("c.")
    links = ("ra", "t0")
    if re.match(r"b(eq|ne|lt|ge|ltu|geu|eqz|nez)$", mnemonic):
        return "cond", int(re.findall(r"0x([0-9a-f]+)", text)[-1], 16), 0
    if mnemonic in ("j", "jal"):
        kind = "call" if mnemonic == "jal" and words[1] in links else "jump"
        return kind, int(re.findall(r"0x([0-9a-f]+)", text)[-1], 16), 0
    if mnemonic in ("jr", "jalr"):
        short = words[0].startswith("c.")
        calls = mnemonic == "jalr" and (short or words[1] in links)
        register = re.search(r"(\w+)\)?$", words[-1]).group(1)
        return "indirect-call" if calls else "return" if register in links else "indirect-jump", 0, 0
    return {"ecall": "syscall", "ebreak": "stop", "sret": "stop", "mret": "stop", "unimp": "stop"}.get(mnemonic, "plain"), 0, 0


# Options of llvm-objdump, what begins a comment, the reader of a line.
MACHINES = {
    "x86-64": (["--mattr="], "#", x86_kind),
    "aarch64": (["--mattr=+all"], "//", aarch64_kind),
    "riscv64": (["--mattr=+m,+a,+f,+d,+c,+zicsr,+zifencei", "-M", "no-aliases"], "#", riscv_kind),
}


def theirs(path, machine):
    """{address: (kind, target, compares)}; kind "invalid" for what is not known."""
    options, comment, kind_of = MACHINES[machine]
    out = subprocess.run([os.path.join(BIN, "llvm-objdump"), "-d", "--no-show-raw-insn", "-z",
                          "--no-print-imm-hex", *options, path],
                         check=True, stdout=subprocess.PIPE).stdout.decode("utf-8", "replace")
    result = {}
    start = None  # of a prefix that stood alone
    for line in out.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        address = int(match.group(1), 16)
        if match.group(2).strip() in PREFIXES:
            start = address if start is None else start
            continue
        if start is not None:
            address, start = start, None
        text = match.group(2).split("<")[0] if "<unknown>" not in line else "<unknown>"
        text = text.split(comment)[0]
        kind = ("invalid", 0, 0) if text == "<unknown>" else kind_of(text)
        result[address] = (kind, match.group(2))
    return result


def ours(path):
    """[(start, end)] and {address: (kind, target, compares)}"""
    out = subprocess.run([os.path.join(TOOLS, "dump_image"), "--no-debug", path], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    ranges = []
    insns = {}
    for line in out.decode("utf-8", "replace").splitlines():
        fields = line.split()
        if fields[0] == "R":
            ranges.append((int(fields[1], 16), int(fields[2], 16)))
        elif fields[0] == "I":
            insns[int(fields[1], 16)] = (fields[3], int(fields[4], 16), int(fields[5]))
    return ranges, insns


def compare(name, path, machine, bias=0):
    """`bias`: address in the file as br2pgo lays it out - llvm-objdump's, of an object."""
    ranges, mine = ours(path)
    known = {address + bias: what for address, what in theirs(path, machine).items()}
    bad = []
    for start, end in ranges:
        here = {a for a in mine if start <= a < end}
        there = {a for a in known if start <= a < end}
        for address in sorted(here | there):
            a = mine.get(address)
            (b, text) = known.get(address, (None, ""))
            if b is not None and b[0] in ("cond", "jump", "call"):
                b = (b[0], b[1] + bias, b[2])
            unknown_word = machine != "x86-64" and a is not None and b == ("invalid", 0, 0)
            elsewhere = bias and a is not None and b is not None and a[0] == b[0] and a[1] == 0
            if a != b and not unknown_word and not elsewhere:
                bad.append((address, a, b, text))
    for address, a, b, text in bad[:5]:
        print(f"  0x{address:x} {text}\n    here {a}, objdump {b}")
    print(f"{name}: {len(mine)} instructions, {len(bad)} differ")
    return len(bad)


def text_offset(path):
    out = subprocess.run([os.path.join(BIN, "llvm-readelf"), "-SW", path], check=True,
                         stdout=subprocess.PIPE).stdout.decode()
    return int(re.search(r"\.text\s+PROGBITS\s+\S+\s+(\S+)", out).group(1), 16)


def assembled(folder):
    for name, source, target in (("x86-64", X86, "x86_64-linux-gnu"),
                                 ("aarch64", AARCH64, "aarch64-linux-gnu"),
                                 ("riscv64", RISCV, "riscv64-linux-gnu")):
        path = os.path.join(folder, name)
        with open(path + ".s", "w", encoding="utf-8") as file:
            file.write(source)
        subprocess.run([os.path.join(BIN, "clang"), f"--target={target}", "-c", "-o", path + ".o",
                        path + ".s"], check=True)
        yield name, path + ".o", name, text_offset(path + ".o")


def riscv_program(folder):
    path = os.path.join(folder, "program")
    if shutil.which("riscv64-linux-gnu-gcc"):
        subprocess.run(["riscv64-linux-gnu-gcc", "-O2", "-static", "-x", "c", "-", "-o", path], check=True,
                       input=b'#include <stdio.h>\nint main(void) { return printf("%d\\n", 5) != 2; }\n')
        yield "program for riscv64", path, "riscv64", 0


def shared_programs():
    for name in ("emulated/lua-clang", "emulated/lua-gcc", "emulated/speedtest1-clang",
                 "autofdo/hierarchical_discriminator_test.x86_64", "autofdo/test.binary",
                 "autofdo/propeller_sample_1.bin", "etm/etm_test_loop",
                 "simpleperf/lbr_test_loop"):
        path = os.path.join(DATA or "", name)
        if DATA and os.path.exists(path):
            yield name, path, "aarch64" if name.startswith("etm/") else "x86-64", 0


def main():
    if not os.path.exists(os.path.join(BIN, "llvm-objdump")) or not os.path.exists(
            os.path.join(BIN, "clang")):
        print("no llvm-objdump and clang")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        bad = sum(compare(*one) for one in assembled(folder))
        bad += sum(compare(*one) for one in riscv_program(folder))
        bad += sum(compare(*one) for one in shared_programs())
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
