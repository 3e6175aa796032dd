/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "image/disassembly/disassembly.h"

#include <pthread.h>

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

static pthread_once_t initialized = PTHREAD_ONCE_INIT;

static void initialize(void)
{
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64Disassembler();
    LLVMInitializeRISCVTargetInfo();
    LLVMInitializeRISCVTargetMC();
    LLVMInitializeRISCVDisassembler();
}

static void *open_context(const char *triple, const char *features)
{
    pthread_once(&initialized, initialize);
    return LLVMCreateDisasmCPUFeatures(triple, "", features, NULL, 0, NULL, NULL);
}

static size_t disassemble(void *context, uint8_t *bytes, size_t size, char *text, size_t text_size)
{
    return LLVMDisasmInstruction(context, bytes, size, 0, text, text_size);
}

__attribute__((visibility("default"))) extern const struct br2_disassembly br2pgo_disassembly;
const struct br2_disassembly br2pgo_disassembly = {
    .open = open_context,
    .close = LLVMDisasmDispose,
    .text = disassemble,
};
