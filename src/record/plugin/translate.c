/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A block is translated: what it is, and the call that is to be made when it runs. The emulator
 * translates in one thread at a time; what is static here needs no lock. */
#include <string.h>

#include "record/plugin/plugin.h"

#define BUCKETS  (1u << 17)
#define HANDLERS 256u

static uint32_t buckets[BUCKETS]; /* numbers of the first block of each chain */
static uint64_t handlers[HANDLERS];
static uint32_t handler_count;

void br2_add_handler(uint64_t address)
{
    uint32_t count = __atomic_load_n(&handler_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        if (handlers[i] == address) {
            return;
        }
    }
    if (count < HANDLERS) {
        handlers[count] = address;
        __atomic_store_n(&handler_count, count + 1, __ATOMIC_RELEASE);
    }
}

static bool is_handler(uint64_t address)
{
    uint32_t count = __atomic_load_n(&handler_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        if (handlers[i] == address) {
            return true;
        }
    }
    return false;
}

/* The same code at the same place is the same block, however often it is translated. The number; 0:
 * there is no room. */
static uint32_t number_of(const struct br2_block *block)
{
    struct br2_area *area = br2_plugin.area;
    uint64_t hash = (block->start ^ block->start >> 17) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t *bucket = &buckets[hash >> 47];
    for (uint32_t at = *bucket; at != 0; at = area->blocks[at].chain) {
        const struct br2_block *old = &area->blocks[at];
        if (old->start == block->start && old->last == block->last && old->next == block->next &&
            old->target == block->target && old->insns == block->insns &&
            old->file == block->file && old->kind == block->kind) {
            return at;
        }
    }
    uint32_t number = area->header.block_count;
    if (number == BR2_AREA_BLOCKS) {
        area->header.lost_blocks++;
        return 0;
    }
    area->blocks[number] = *block;
    area->blocks[number].number = number;
    area->blocks[number].chain = *bucket;
    *bucket = number;
    __atomic_store_n(&area->header.block_count, number + 1, __ATOMIC_RELEASE);
    return number;
}

static struct br2_transfer classify(const uint8_t *bytes, size_t size, uint64_t address)
{
    switch (br2_plugin.machine) {
    case BR2_MACHINE_X86:
        return br2_classify_x86(bytes, size, address);
    case BR2_MACHINE_AARCH64:
        return br2_classify_aarch64(bytes, size, address);
    default:
        return br2_classify_riscv(bytes, size, address);
    }
}

/* Known from the first translation on. */
static void note_program(void)
{
    char *path = br2_plugin.area->header.path;
    const char *name =
        path[0] == '\0' && qemu_plugin_path_to_binary != NULL ? qemu_plugin_path_to_binary() : NULL;
    if (name != NULL && strlen(name) < sizeof br2_plugin.area->header.path) {
        memcpy(path, name, strlen(name) + 1);
    }
}

void br2_at_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    size_t count = qemu_plugin_tb_n_insns(tb);
    if (count == 0) {
        return;
    }
    struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, count - 1);
    const uint8_t *bytes = qemu_plugin_insn_haddr(insn);
    struct br2_block block = {
        .start = qemu_plugin_tb_vaddr(tb),
        .last = qemu_plugin_insn_vaddr(insn),
        .insns = (uint32_t)count,
    };
    size_t size = qemu_plugin_insn_size(insn);
    block.next = block.last + size;
    if (bytes != NULL) {
        br2_plugin.guest_base = (uint64_t)(uintptr_t)bytes - block.last;
    } else {
        bytes = (const uint8_t *)(uintptr_t)(block.last + br2_plugin.guest_base);
    }
    struct br2_transfer transfer = classify(bytes, size, block.last);
    block.kind = (uint8_t)transfer.kind;
    block.target = transfer.target;
    const struct br2_thread *self = br2_thread_self();
    block.file = br2_mapping_file(block.start, self != NULL ? br2_thread_now(self) : 0);
    note_program();
    uint32_t number = number_of(&block);
    br2_on_block call = is_handler(block.start) ? br2_at_handler : br2_at_block;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, number != 0 ? call : br2_at_unknown,
                                         QEMU_PLUGIN_CB_NO_REGS, &br2_plugin.area->blocks[number]);
}
