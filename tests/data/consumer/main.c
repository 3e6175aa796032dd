/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The smallest user of an installed libbr2pgo. */
#include <br2pgo/br2pgo.h>
#include <br2pgo/version.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    puts(br2pgo_version());
    return strcmp(br2pgo_version(), BR2PGO_VERSION) != 0;
}
