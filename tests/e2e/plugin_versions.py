#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The emulator's plugin says an interface version that each QEMU takes, told by the functions that QEMU has: programs
that have them load it as QEMU does, which looks at the version first."""
import os
import subprocess
import sys
import tempfile

PLUGIN = os.path.join(os.environ["BUILD_DIR"], "lib", "br2pgo", "br2pgo-qemu.so")

# Functions that came with a version and that the plugin could tell it by; plugins/plugin.h and the header's history.
HOST = """
#include <dlfcn.h>
#include <stdio.h>
#if QEMU < 900
void qemu_plugin_register_vcpu_tb_exec_inline(void) {}
#else
void qemu_plugin_scoreboard_new(void) {}
#endif
#if QEMU >= 902
void qemu_plugin_read_memory_vaddr(void) {}
#endif
#if QEMU >= 1001
void qemu_plugin_write_memory_vaddr(void) {}
#endif
int main(int argc, char **argv)
{
    void *plugin = dlopen(argv[argc - 1], RTLD_LAZY | RTLD_LOCAL);
    int *version = plugin != NULL ? (int *)dlsym(plugin, "qemu_plugin_version") : NULL;
    printf("%d\\n", version != NULL ? *version : -1);
    return 0;
}
"""

# QEMU: the least and the greatest version it takes.
TAKES = {702: (0, 1), 802: (0, 1), 900: (2, 2), 901: (2, 3), 902: (2, 4), 1000: (2, 4), 1001: (2, 5), 1002: (2, 5)}


def main():
    if os.environ.get("SANITIZE"):
        print("skipped: a sanitizer's plugin is not loaded by just any program")
        return 77
    if not os.path.exists(PLUGIN):
        print(f"skipped: no {PLUGIN}")
        return 77
    problems = 0
    with tempfile.TemporaryDirectory() as folder:
        host = os.path.join(folder, "host")
        for qemu, (least, greatest) in TAKES.items():
            subprocess.run(["cc", "-w", "-rdynamic", f"-DQEMU={qemu}", "-x", "c", "-", "-o", host, "-ldl"], input=HOST,
                           text=True, check=True)
            said = int(subprocess.run([host, PLUGIN], check=True, capture_output=True, text=True).stdout)
            good = least <= said <= greatest
            problems += not good
            print(f"QEMU {qemu // 100}.{qemu % 100} takes {least} to {greatest}, is told {said}{'' if good else ': WRONG'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
