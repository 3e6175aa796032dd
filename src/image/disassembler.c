/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's disassemblers: an instruction's length, and what the assembler calls it. That of x86-64 is
 * linked, since decoding needs it; the others come from disassembly/. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include "base/file.h"
#include "base/mem.h"
#include "image/decode.h"
#include "image/disassembly/disassembly.h"

#define LENGTH_MAX 15 /* of x86; the others' are shorter */

struct br2_disassembler {
    LLVMDisasmContextRef context;
    const struct br2_disassembly
        *disassembly; /* of which the context is; NULL: of what is linked */
};

/* Features are those that LLVM does not take for granted. */
static const struct machine {
    const char *name;
    const char *triple;
    const char *features;
} machines[] = {
    [BR2_MACHINE_X86_64] = {"x86-64", "x86_64-unknown-linux-gnu", ""},
    [BR2_MACHINE_AARCH64] = {"AArch64", "aarch64-unknown-linux-gnu", "+all"},
    [BR2_MACHINE_RISCV64] = {"RISC-V", "riscv64-unknown-linux-gnu",
                             "+m,+a,+f,+d,+c,+v,+zba,+zbb,+zbs"},
};

static pthread_once_t initialized = PTHREAD_ONCE_INIT;
static pthread_once_t looked_for = PTHREAD_ONCE_INIT;
static const struct br2_disassembly *found;

static void initialize(void)
{
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
}

/* The file that this code is in: the library, or the program. */
static bool find_self(char path[PATH_MAX])
{
    Dl_info info;
    bool library = dladdr(machines, &info) != 0 && info.dli_fname[0] == '/';
    if (library && strlen(info.dli_fname) < PATH_MAX) {
        memcpy(path, info.dli_fname, strlen(info.dli_fname) + 1);
        return true;
    }
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* Loaded once, and kept: contexts are its. */
static void look_for_disassembly(void)
{
    static const char *const folders[] = {BR2PGO_MODULE_FOLDER, "../lib/br2pgo", "br2pgo"};
    char self[PATH_MAX];
    if (!find_self(self)) {
        return;
    }
    int folder = (int)(br2_base_name(self) - self);
    void *handle = NULL;
    for (size_t i = 0; handle == NULL && i < sizeof folders / sizeof *folders; i++) {
        char *path = br2_format("%.*s%s/br2pgo-disassembly.so", folder, self, folders[i]);
        handle = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
        br2_free(path);
    }
    found = handle != NULL ? dlsym(handle, BR2_DISASSEMBLY_NAME) : NULL;
}

static void open_context(struct br2_disassembler *disassembler, enum br2_machine machine)
{
    const struct machine *of = &machines[machine];
    if (machine == BR2_MACHINE_X86_64) {
        pthread_once(&initialized, initialize);
        disassembler->context = LLVMCreateDisasm(of->triple, NULL, 0, NULL, NULL);
        return;
    }
    pthread_once(&looked_for, look_for_disassembly);
    if (found != NULL) {
        disassembler->disassembly = found;
        disassembler->context = found->open(of->triple, of->features);
    }
}

int br2_disassembler_new(enum br2_machine machine, struct br2_disassembler **ret,
                         struct br2pgo_error *err)
{
    *ret = NULL;
    struct br2_disassembler *disassembler = br2_calloc(1, sizeof *disassembler);
    if (disassembler == NULL) {
        return br2_fail_memory(err);
    }
    open_context(disassembler, machine);
    if (disassembler->context == NULL) {
        br2_free(disassembler);
        br2_fail(err, BR2PGO_INTERNAL, "there is no disassembler for %s", machines[machine].name);
        br2_hint(err, "install all of br2pgo: br2pgo-disassembly.so is missing, or LLVM lacks it");
        return BR2PGO_INTERNAL;
    }
    *ret = disassembler;
    return 0;
}

void br2_disassembler_free(struct br2_disassembler *disassembler)
{
    if (disassembler == NULL) {
        return;
    }
    if (disassembler->disassembly != NULL) {
        disassembler->disassembly->close(disassembler->context);
    } else {
        LLVMDisasmDispose(disassembler->context);
    }
    br2_free(disassembler);
}

size_t br2_disassemble(struct br2_disassembler *disassembler, const uint8_t *bytes, size_t size,
                       char *text, size_t text_size)
{
    uint8_t copy[LENGTH_MAX]; /* LLVM's function takes no constant bytes */
    size_t available = size < LENGTH_MAX ? size : LENGTH_MAX;
    memcpy(copy, bytes, available);
    LLVMDisasmContextRef context = disassembler->context;
    const struct br2_disassembly *other = disassembler->disassembly;
    size_t length = other != NULL
                        ? other->text(context, copy, available, text, text_size)
                        : LLVMDisasmInstruction(context, copy, available, 0, text, text_size);
    return length <= available ? length : 0;
}

void br2_disassemble_text(struct br2_disassembler *disassembler, const uint8_t *bytes, size_t size,
                          char *text, size_t text_size)
{
    char line[160] = "";
    size_t used = 0;
    for (size_t at = 0; at < size && used + 1 < text_size;) {
        size_t length = br2_disassemble(disassembler, bytes + at, size - at, line, sizeof line);
        if (length == 0) {
            break;
        }
        at += length;
        /* A prefix that LLVM takes for an instruction of its own comes before the others. */
        for (const char *from = line + strspn(line, "\t "); *from != '\0'; from++) {
            if (used + 1 < text_size) {
                text[used++] = *from == '\t' ? ' ' : *from;
            }
        }
        if (at < size && used + 1 < text_size) {
            text[used++] = ' ';
        }
    }
    text[used] = '\0';
}
