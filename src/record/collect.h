/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The recorder's end of what recorded programs hand over: who runs, and what they leave behind. */
#ifndef BR2_RECORD_COLLECT_H
#define BR2_RECORD_COLLECT_H

#include <sys/types.h>

#include "record/edges.h"
#include "record/emulate.h"
#include "record/stream.h"

/* A recorded process that has not ended. */
struct br2_live {
    uint64_t run; /* its number */
    pid_t pid;
    int process; /* pidfd; -1: it ended before it could be watched */
    int memory;  /* the area */
};

/* Zero-initialise, then open. */
struct br2_collector {
    char name[40]; /* of the socket, abstract */
    int socket;
    int events; /* epoll */
    bool exact;
    struct br2_streams streams;
    struct br2_exact_edges edges;
    struct br2_emulation totals;
    uint64_t forks;        /* processes that were started, whether they have come or not */
    uint64_t forked;       /* that came */
    struct br2_live *live; /* owned */
    size_t count;
    size_t capacity;
};

/* Errors: BR2PGO_IO, BR2PGO_NO_MEMORY. */
int br2_collector_open(struct br2_collector *c, const char *output, bool exact,
                       struct br2pgo_error *err);
void br2_collector_done(struct br2_collector *c);

/* Takes in what there is, waiting for at most `timeout_ms` for the first. */
int br2_collector_step(struct br2_collector *c, int timeout_ms, struct br2pgo_error *err);
/* Sends a signal to every recorded process; `spare_group`: not to those in the group of this one,
 * which a terminal has sent it to. */
void br2_collector_signal(const struct br2_collector *c, int number, bool spare_group);
/* Takes in what processes that have not ended have got so far. */
int br2_collector_finish(struct br2_collector *c, struct br2pgo_error *err);

#endif
