/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which word was most likely meant by one that is not known. */
#ifndef BR2_CLI_SUGGEST_H
#define BR2_CLI_SUGGEST_H

#include <stddef.h>

/* Longer words are not compared. */
#define BR2_SUGGEST_WORD_MAX 64

struct br2_suggestion {
    const char *word;    /* what was given, not owned */
    const char *nearest; /* what was likely meant, not owned; NULL: nothing is near */
    size_t distance;
};

/* A suggestion for `word` of which nothing has been considered; for an empty word nothing is near.
 */
struct br2_suggestion br2_suggest(const char *word);

/* Takes `candidate` for what was meant when it begins with the word, or is at most two edits (a
 * letter more, less, other, or two swapped) away from it, and nearer than those before; a beginning
 * is nearest. */
void br2_suggest_consider(struct br2_suggestion *suggestion, const char *candidate);

#endif
