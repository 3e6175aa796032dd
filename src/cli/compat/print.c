/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "cli/compat/compat.h"
#include "cli/compat/peer.h"
#include "record/perf_command.h"

/* Options are explained in three parts. */
enum part {
    PART_TAKEN,
    PART_SILENT,
    PART_REFUSED,
};

static enum part part_of(const struct br2_peer_option *option)
{
    if (option->effect == BR2_PEER_ONLY) {
        return PART_REFUSED;
    }
    return option->effect == BR2_PEER_SILENT ? PART_SILENT : PART_TAKEN;
}

static void print_options(const struct br2_peer *peer, enum part part)
{
    const struct br2_peer_option *option;
    for (size_t i = 0; (option = br2_peer_option_at(peer, i)) != NULL; i++) {
        if (part_of(option) != part) {
            continue;
        }
        const char *value = part == PART_REFUSED ? option->to : option->value;
        char text[80];
        snprintf(text, sizeof text, "%s%s%s%s", option->name[1] == '\0' ? "-" : "--", option->name,
                 value != NULL ? "=" : "", value != NULL ? value : "");
        printf(strlen(text) > 30 ? "  %s\n%34s%s\n" : "  %-30s%2s%s\n", text, "", option->text);
    }
}

void br2_compat_print_help(const struct br2_peer *peer)
{
    printf("br2pgo in place of %s\n"
           "\n"
           "usage:   %s %s\n"
           "         br2pgo --compat %s ...\n"
           "\n"
           "%s"
           "\n"
           "Options:\n",
           peer->name, peer->name, peer->usage, peer->name, peer->differs);
    print_options(peer, PART_TAKEN);
    printf("\nTaken, with no effect on what is written:\n");
    print_options(peer, PART_SILENT);
    printf("\nRefused, with the reason; what is shown behind '=' is done anyway, and taken:\n");
    print_options(peer, PART_REFUSED);
    printf("\nExit status: 0 written, 1 failed, 2 usage, 3 no useful profile in the recording.\n");
}

void br2_compat_print_own(const struct br2_compat *compat)
{
    struct br2_buf text = {0};
    for (size_t i = 0; i < compat->count; i++) {
        br2_buf_str(&text, i != 0 ? " " : "");
        br2_quote_word(&text, compat->words[i]);
    }
    if (!text.failed && compat->count != 0) {
        fprintf(stderr, "br2pgo: note: in br2pgo's own options: %.*s\n", (int)text.size,
                (const char *)text.bytes);
    }
    br2_buf_done(&text);
}
