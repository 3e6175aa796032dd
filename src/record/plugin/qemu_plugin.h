/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The part of the emulator's plugin interface that is used here: QEMU's documentation of TCG
 * plugins. Distributions do not ship its header. Interface versions 1 (QEMU up to 8.2), 2 (9.0), 3
 * (9.1), 4 (9.2, 10.0), 5 (10.1, 10.2); from 9.0 on QEMU takes what says 2 or more, up to its own.
 * The plugin's sources were compiled with the headers of 7.2, 8.1, 8.2, 9.0, 9.1, 9.2, 10.0, 10.1
 * and 10.2, which declare what is used here in the same way, and run with 7.2 and 10.0.
 */
#ifndef BR2_RECORD_PLUGIN_QEMU_PLUGIN_H
#define BR2_RECORD_PLUGIN_QEMU_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define BR2_EXPORT __attribute__((visibility("default")))
#define BR2_WEAK   __attribute__((weak, visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

/* Only its beginning, which is the same in all versions. */
struct qemu_info_t {
    const char *target_name;
    struct {
        int min;
        int cur;
    } version;
};

enum qemu_plugin_cb_flags {
    QEMU_PLUGIN_CB_NO_REGS
};

typedef void (*br2_on_translation)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*br2_on_block)(unsigned int vcpu, void *block);
typedef void (*br2_on_vcpu)(qemu_plugin_id_t id, unsigned int vcpu);
typedef void (*br2_on_syscall)(qemu_plugin_id_t id, unsigned int vcpu, int64_t number, uint64_t a1,
                               uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
                               uint64_t a7, uint64_t a8);
typedef void (*br2_on_syscall_return)(qemu_plugin_id_t id, unsigned int vcpu, int64_t number,
                                      int64_t result);

/* What the plugin must have. The emulator accepts a range of versions. */
extern BR2_EXPORT int qemu_plugin_version;
BR2_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc,
                                   char **argv);

BR2_WEAK void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, br2_on_vcpu call);
BR2_WEAK void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, br2_on_translation call);
BR2_WEAK void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, br2_on_block call,
                                                   enum qemu_plugin_cb_flags flags, void *block);
BR2_WEAK void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, br2_on_syscall call);
BR2_WEAK void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id,
                                                       br2_on_syscall_return call);
BR2_WEAK size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
BR2_WEAK uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
BR2_WEAK struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
                                                          size_t index);
BR2_WEAK size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
BR2_WEAK uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
/* Where the instruction lies in the emulator's own memory. */
BR2_WEAK void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);

/* The program's file, to be freed; NULL: not known yet. */
BR2_WEAK const char *qemu_plugin_path_to_binary(void);

/* What tells the versions apart: from 2 on, from 4 on. */
BR2_WEAK void *qemu_plugin_scoreboard_new(size_t element_size);
BR2_WEAK void qemu_plugin_read_memory_vaddr(void);

#endif
