// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
extern "C" {
long count;
long swallow(int n);
long resume(int n);
__attribute__((noinline)) void work(int n) { if (n % 5 == 0) throw n; count += n; }
__attribute__((noinline)) long after(int n) { return count += n ^ 3; }
}
/* Landing pads that execution also falls into, and returns to: they are inside a block but for the
   unwinder. The unwinder's own way ends in main. */
#define TABLE(name)                                                                                \
  ".section .gcc_except_table,\"a\",@progbits\n"                                                   \
  ".L" name "_table: .byte 0xff, 0xff, 0x01\n"                                                     \
  ".uleb128 .L" name "_end - .L" name "_sites\n"                                                   \
  ".L" name "_sites:\n"                                                                            \
  ".uleb128 .L" name "_call - " name "\n.uleb128 .L" name "_behind - .L" name "_call\n"            \
  ".uleb128 .L" name "_pad - " name "\n.uleb128 0\n"                                               \
  ".L" name "_end:\n"
#define BEGIN(name)                                                                                \
  ".text\n.p2align 4\n.globl " name "\n.type " name ", @function\n" name ":\n.cfi_startproc\n"     \
  ".cfi_personality 0x9b, DW.ref.__gxx_personality_v0\n.cfi_lsda 0x1b, .L" name "_table\n"         \
  "push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbx, 0\nmov %edi, %ebx\n"                 \
  ".L" name "_call: call work\n.L" name "_behind:\n"
#define END(name)                                                                                  \
  ".L" name "_pad: mov %ebx, %edi\ncall after\ntest %eax, %eax\nje 1f\nadd $1, %eax\n1: pop %rbx\n"  \
  ".cfi_adjust_cfa_offset -8\nret\n.cfi_endproc\n.size " name ", . - " name "\n"
__asm__(BEGIN("swallow") "add $1, %ebx\n" END("swallow") BEGIN("resume") END("resume")
        TABLE("swallow") TABLE("resume") ".text\n");
int main() {
  long sum = 0;
  for (volatile int i = 1; i < 60; i++) {
    try {
      sum += swallow(i) + resume(i * 3);
    } catch (int n) { sum -= n; }
  }
  std::printf("%ld %ld\n", sum, count);
}
