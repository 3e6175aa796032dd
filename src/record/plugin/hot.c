/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The call at every block. How the block before ended is known only now: by where this one begins.
 * A conditional branch to the very next instruction counts as not taken: it cannot be told. A block
 * that begins where the one before could not lead to, behind a signal or in the middle of a block
 * that had to be begun again, tells nothing.
 *
 * The predictor that a record's misprediction is by: a two-bit counter for each conditional branch,
 * which begins with "weakly not taken"; the last target for each indirect one; for returns a stack
 * of return addresses, the oldest of which a deeper call overwrites. One for each thread.
 */
#include "record/plugin/plugin.h"

/* Ends, for a thread that begins, where no block begins. */
static const struct br2_block no_block;

const struct br2_block *br2_no_block(void)
{
    return &no_block;
}

static inline void put_record(struct br2_thread *t, uint64_t from, uint64_t to, bool missed)
{
    uint32_t newest = (t->newest + 1) & (BR2_RING - 1);
    t->newest = newest;
    /* Without the block that begins. */
    uint64_t executed = t->insns - t->before->insns;
    t->ring[newest] =
        (struct br2_branch_record){from, to, (missed ? 1 : 2) | executed << BR2_CYCLES_SHIFT};
    t->missed += missed;
    if (__builtin_expect(--t->until == 0, 0)) {
        br2_thread_sample(t, to);
    }
}

static inline void at_cond(struct br2_thread *t, const struct br2_block *before, uint64_t start)
{
    struct br2_block_counts *counts = &t->counts[before->number];
    uint64_t state = counts->state;
    if (start == before->next) {
        counts->passed++;
        t->missed += state >> 1;
        counts->state = state - (state != 0);
    } else if (start == before->target) {
        bool missed = state < 2;
        counts->taken++;
        counts->missed += missed;
        counts->state = state + (state != 3);
        put_record(t, before->last, start, missed);
    }
}

static inline void push_return(struct br2_thread *t, uint64_t address)
{
    t->return_top = (t->return_top + 1) & (BR2_RETURN_STACK - 1);
    t->returns[t->return_top] = address;
}

static inline bool pop_return(struct br2_thread *t, uint64_t address)
{
    bool right = t->returns[t->return_top] == address;
    t->returns[t->return_top] = 0;
    t->return_top = (t->return_top - 1) & (BR2_RETURN_STACK - 1);
    return right;
}

/* Counts are of the last target; those of others go where all are kept. Not inline: its calls would
 * cost every block the saving of registers. */
__attribute__((noinline)) static void at_indirect(struct br2_thread *t,
                                                  const struct br2_block *before, uint64_t start)
{
    /* Began again in its middle: the branch has not been reached. */
    if (start > before->start && start <= before->last) {
        return;
    }
    struct br2_block_counts *counts = &t->counts[before->number];
    bool missed = counts->state != start;
    if (missed) {
        if (counts->taken != 0) {
            br2_thread_count(t, before->number, counts);
        }
        counts->taken = 0;
        counts->missed = 0;
        counts->state = start;
    }
    if (before->kind == BR2_BLOCK_RETURN) {
        missed = !pop_return(t, start);
    } else if (before->kind == BR2_BLOCK_INDIRECT_CALL) {
        push_return(t, before->next);
    }
    counts->taken++;
    counts->missed += missed;
    put_record(t, before->last, start, missed);
}

static inline void at_direct(struct br2_thread *t, const struct br2_block *before, uint64_t start)
{
    if (start != before->target) {
        return;
    }
    if (before->kind == BR2_BLOCK_CALL) {
        push_return(t, before->next);
    }
    t->counts[before->number].taken++;
    put_record(t, before->last, start, false);
}

void br2_at_block(unsigned int vcpu, void *block)
{
    const struct br2_block *now = block;
    struct br2_thread *t = br2_plugin.threads[vcpu];
    const struct br2_block *before = t->before;
    t->before = now;
    t->insns += now->insns;
    switch (before->kind) {
    case BR2_BLOCK_COND:
        at_cond(t, before, now->start);
        return;
    case BR2_BLOCK_JUMP:
    case BR2_BLOCK_CALL:
        at_direct(t, before, now->start);
        return;
    case BR2_BLOCK_PLAIN:
        return;
    case BR2_BLOCK_REPEAT:
        t->insns -= now->start == before->last; /* the same instruction */
        return;
    default:
        at_indirect(t, before, now->start);
    }
}

void br2_at_handler(unsigned int vcpu, void *block)
{
    const struct br2_block *now = block;
    struct br2_thread *t = br2_plugin.threads[vcpu];
    const struct br2_block *before = t->before;
    bool led_here = before->target == now->start &&
                    (before->kind == BR2_BLOCK_CALL || before->kind == BR2_BLOCK_JUMP);
    if (!led_here) {
        t->interrupted[t->interrupted_count++ % BR2_SIGNAL_STACK] = before;
        t->before = &no_block;
    }
    br2_at_block(vcpu, block);
}

void br2_at_unknown(unsigned int vcpu, void *block)
{
    (void)block;
    br2_plugin.threads[vcpu]->before = &no_block;
}
